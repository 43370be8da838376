#include "core/rules/instantiate/evaluate.h"

#include <algorithm>
#include <array>
#include <span>

#include "core/graph/constants.h"
#include "core/rules/instantiate/list_functions.h"
#include "core/rules/lang/diagnostics.h"

namespace regraft::rules {
namespace {

using Form = Code::Form;
using Kind = Quantity::Kind;
using Ints = List;
constexpr std::size_t kMostArguments = 3;
constexpr std::size_t kLongest = 1 << 13;  // of lists, one that doubles

}  // namespace

void fail_of_work(const Code& code, const Scope& scope) {
  fail(scope.bindings.file, code.at,
       "this expression takes more than " + std::to_string(kMostWork) + " steps here",
       "let it go through shorter lists: loops within loops multiply");
}

namespace {

Quantity shape_of(const graph::TensorType& type) {
  if (!type.ranked) return {};
  Quantity dims;
  dims.kind = Kind::list;
  for (graph::Dim dim : type.dims) dims.list.push_back(encode_dim(dim));
  return dims;
}

Quantity scalar_of(const Tensor& tensor, const Scope& scope) {
  if (!tensor.constant()) return {};
  const graph::Tables& tables = scope.graph.tables();
  const auto value = graph::scalar_value(tables, tensor.weight);
  if (!value) return {};
  Quantity found = Quantity::of(*value);
  found.exact = tables.type(tensor.type).dtype == graph::DType::float64;
  return found;
}

Quantity of_tensor(Function function, const Tensor& tensor, const Scope& scope) {
  const graph::TensorType& type = scope.graph.tables().type(tensor.type);
  switch (function) {
    case Function::rank:
      return type.ranked ? Quantity::of(static_cast<std::int64_t>(type.rank())) : Quantity{};
    case Function::dims:
      return shape_of(type);
    case Function::size: {
      const auto count = type.element_count();
      return count ? Quantity::of(*count) : Quantity{};
    }
    case Function::dtype:
      return Quantity::of(static_cast<std::int64_t>(type.dtype));
    case Function::type:
      return Quantity::of(static_cast<std::int64_t>(tensor.type));
    case Function::is_const:
      return Quantity::of(tensor.constant());
    case Function::scalar:
      return Quantity::of(scalar_of(tensor, scope).known());
    case Function::value:
      return scalar_of(tensor, scope);
    case Function::floating:
      return Quantity::of(graph::is_float(type.dtype));
    case Function::uses:
      if (!tensor.value.present() || tensor.constant()) return {};  // constants are free to use
      return Quantity::of(static_cast<std::int64_t>(scope.graph.use_count(tensor.value)));
    case Function::ints: {
      if (!tensor.constant()) return {};
      const auto values = graph::integer_values(scope.graph.tables(), tensor.weight);
      return values ? Quantity::of(Ints(*values)) : Quantity{};
    }
    case Function::output:
      return Quantity::of(tensor.value.present() && scope.graph.is_graph_output(tensor.value));
    default:
      return {};
  }
}

Quantity call_tensors(const Code& code, const Scope& scope) {
  Quantity result;
  for (Slot slot : code.tensors) {
    const Tensor& tensor = tensor_at(slot, scope);
    if (code.function == Function::present) return Quantity::of(tensor.present());
    const bool predicate = code.function == Function::is_const || code.function == Function::scalar ||
                           code.function == Function::floating;
    if (!tensor.present()) return predicate ? Quantity::of(code.function == Function::is_const) : Quantity{};
    result = of_tensor(code.function, tensor, scope);
    if (!predicate || !result.truth()) return result;
  }
  return result;
}

Quantity call(const Code& code, const Scope& scope) {
  if (!code.tensors.empty()) return call_tensors(code, scope);
  if (code.args.size() > kMostArguments) return {};
  std::array<Quantity, kMostArguments> held;
  const std::span<Quantity> args(held.data(), code.args.size());
  for (std::size_t i = 0; i < args.size(); ++i) {
    args[i] = value_of(code.args[i], scope);
    if (!args[i].known()) return {};
  }
  if (code.function == Function::range) return range_of(args);
  const bool extreme = code.function == Function::max || code.function == Function::min;
  if (extreme && args.size() == 2) {
    if (args[0].kind != Kind::integer || args[1].kind != Kind::integer) return {};
    return reduce(code.function, {args[0].integer, args[1].integer});
  }
  if (args[0].kind != Kind::list) return {};
  if (args.size() == 1) return of_list(code.function, std::move(args[0].list));
  const bool takes_lists = code.function == Function::permute;
  if (args[1].kind != (takes_lists ? Kind::list : Kind::integer)) return {};
  return call_list(code.function, args);
}

Quantity join_lists(const Quantity& a, const Quantity& b) {
  const bool lists = a.kind == Kind::list && b.kind == Kind::list;
  if (!lists || a.list.size() + b.list.size() > kLongest) return {};
  Ints out = a.list;
  for (const std::int64_t v : b.list) out.push_back(v);
  return Quantity::of(std::move(out));
}

}  // namespace

Quantity compare(const std::string& op, const Quantity& a, const Quantity& b) {
  if (!a.known() || !b.known()) return {};
  if (op == "==") return Quantity::of(a.equals(b));
  if (op == "!=") return Quantity::of(!a.equals(b));
  const auto ordered = [](const Quantity& q) {
    return q.kind == Kind::real || (q.kind == Kind::integer && !is_symbolic(q.integer)) ||
           (q.kind == Kind::list && std::none_of(q.list.begin(), q.list.end(), is_symbolic));
  };
  if (!ordered(a) || !ordered(b)) return {};
  const auto holds = [&](auto x, auto y) {
    return op == "<" ? x < y : op == "<=" ? x <= y : op == ">" ? x > y : x >= y;
  };
  const auto number = [](const Quantity& q) {
    return q.kind == Kind::real ? q.real : static_cast<double>(q.integer);
  };
  if (b.kind == Kind::list) return {};
  const bool real = b.kind == Kind::real;
  if (a.kind == Kind::list)
    return Quantity::of(std::all_of(a.list.begin(), a.list.end(), [&](std::int64_t v) {
      return real ? holds(static_cast<double>(v), b.real) : holds(v, b.integer);
    }));
  if (real || a.kind == Kind::real) return Quantity::of(holds(number(a), number(b)));
  return Quantity::of(holds(a.integer, b.integer));
}

namespace {

Quantity element(const Quantity& list, const Quantity& at) {
  if (list.kind != Kind::list) return {};
  const auto i = resolve(at, list.list.size());
  return i ? Quantity::of(list.list[*i]) : Quantity{};
}

// Nothing in place of a bound: it is not written.
Quantity part(const Quantity& list, const std::optional<Quantity>& first,
              const std::optional<Quantity>& last) {
  const auto bad = [](const std::optional<Quantity>& q) { return q && q->kind != Kind::integer; };
  if (list.kind != Kind::list || bad(first) || bad(last)) return {};
  const auto size = static_cast<std::int64_t>(list.list.size());
  const auto bound = [&](const std::optional<Quantity>& q, std::int64_t otherwise) {
    if (!q) return otherwise;
    return std::clamp<std::int64_t>(q->integer < 0 ? q->integer + size : q->integer, 0, size);
  };
  const std::int64_t from = bound(first, 0), to = std::max(from, bound(last, size));
  return Quantity::of(Ints(std::span(list.list.begin() + from, list.list.begin() + to)));
}

Quantity list_of(const Code& code, const Scope& scope) {
  Ints out;
  for (const Code& arg : code.args) {
    const Quantity value = value_of(arg, scope);
    if (out.size() + value.list.size() >= kLongest) return {};
    if (value.kind == Kind::list && arg.form == Form::spread) {
      for (const std::int64_t v : value.list) out.push_back(v);
    } else if (value.kind == Kind::integer || value.kind == Kind::boolean) {
      out.push_back(value.integer);
    } else {
      return {};
    }
  }
  return Quantity::of(std::move(out));
}

Quantity spread(const Code& code, const Scope& scope) {
  Ints out;
  Scope inner{scope.graph, scope.bindings, code.member_set, 0};
  for (; inner.member < scope.bindings.count(code.member_set); ++inner.member) {
    const Quantity value = value_of(code.args[0], inner);
    if (value.kind != Kind::integer) return {};
    out.push_back(value.integer);
  }
  return Quantity::of(std::move(out));
}

Quantity comprehension(const Code& code, const Scope& scope) {
  const Quantity source = value_of(code.args[1], scope);
  if (source.kind != Kind::list) return {};
  Ints out;
  for (std::int64_t v : source.list) {
    scope.bindings.quantity(code.slot) = Quantity::of(v);
    if (code.args.size() > 2 && !value_of(code.args[2], scope).truth()) continue;
    const Quantity value = value_of(code.args[0], scope);
    if (value.kind != Kind::integer && value.kind != Kind::boolean) return {};
    out.push_back(value.integer);
  }
  return Quantity::of(std::move(out));
}

Quantity parity(const Quantity& q, std::int64_t wanted) {
  const auto fits = [&](std::int64_t v) { return !is_symbolic(v) && ((v % 2) + 2) % 2 == wanted; };
  if (q.kind == Kind::integer) return Quantity::of(fits(q.integer));
  if (q.kind != Kind::list) return {};
  return Quantity::of(std::all_of(q.list.begin(), q.list.end(), fits));
}

Quantity contained(const Code& code, const Scope& scope) {
  const Quantity needle = value_of(code.args[0], scope);
  if (!needle.known()) return {};
  for (std::size_t i = 1; i < code.args.size(); ++i) {
    const Quantity value = value_of(code.args[i], scope);
    if (!value.known()) return {};
    if (code.symbol == "set" && needle.equals(value)) return Quantity::of(true);
    if (code.symbol == "list") {
      if (value.kind != Kind::list || needle.kind != Kind::integer) return {};
      return Quantity::of(std::find(value.list.begin(), value.list.end(), needle.integer) !=
                          value.list.end());
    }
  }
  return Quantity::of(false);
}

Quantity dim_of(const Code& code, const Scope& scope) {
  const Tensor& tensor = tensor_at(code.tensors[0], scope);
  if (!tensor.present()) return {};
  const graph::TensorType& type = scope.graph.tables().type(tensor.type);
  const auto at = resolve(value_of(code.args[0], scope), type.dims.size());
  return type.ranked && at ? Quantity::of(encode_dim(type.dims[*at])) : Quantity{};
}

}  // namespace

const Quantity& seen(const Code& code, const Scope& scope, Quantity& made) {
  if (code.form == Form::literal) return code.literal;
  if (code.form == Form::variable && !without_member(code.slot, scope))
    return scope.bindings.quantity(code.slot, member_of(code.slot, scope));
  made = value_of(code, scope);
  return made;
}

Quantity computed(const Code& code, const Scope& scope) {
  const auto arg = [&](std::size_t i) { return value_of(code.args[i], scope); };
  const auto of_two = [&](auto&& operation) {
    Quantity a, b;
    const Quantity& left = seen(code.args[0], scope, a);
    const Quantity& right = seen(code.args[1], scope, b);
    spend(code, scope, code.form == Form::index ? 0 : left.list.size() + right.list.size());
    return operation(left, right);
  };
  const auto optional_arg = [&](std::size_t i) {
    return code.args[i].form == Form::literal && !code.args[i].literal.known() ? std::nullopt
                                                                               : std::optional(arg(i));
  };
  switch (code.form) {
    case Form::literal:
      return code.literal;
    case Form::variable:
      if (without_member(code.slot, scope)) return {};
      return scope.bindings.quantity(code.slot, member_of(code.slot, scope));
    case Form::list:
      return list_of(code, scope);
    case Form::call:
      return call(code, scope);
    case Form::arithmetic:
      return of_two([&](const Quantity& a, const Quantity& b) { return arithmetic(code.symbol[0], a, b); });
    case Form::join:
      return of_two(join_lists);
    case Form::compare:
      return of_two([&](const Quantity& a, const Quantity& b) { return compare(code.symbol, a, b); });
    case Form::conjunction:
      return Quantity::of(arg(0).truth() && arg(1).truth());
    case Form::disjunction:
      return Quantity::of(arg(0).truth() || arg(1).truth());
    case Form::negation: {
      const Quantity inner = arg(0);
      return inner.kind == Kind::boolean ? Quantity::of(!inner.truth()) : Quantity{};
    }
    case Form::minus: {
      Quantity inner = arg(0);
      if (inner.kind == Kind::real) {
        inner.real = -inner.real;
        return inner;
      }
      return arithmetic('-', Quantity::of(std::int64_t{0}), inner);
    }
    case Form::member_of:
      return contained(code, scope);
    case Form::odd:
      return parity(arg(0), 1);
    case Form::even:
      return parity(arg(0), 0);
    case Form::dim:
      return dim_of(code, scope);
    case Form::index:
      return of_two(element);
    case Form::slice:
      return part(arg(0), optional_arg(1), optional_arg(2));
    case Form::conditional: {
      const Quantity condition = arg(0);
      if (condition.kind != Kind::boolean) return {};
      return condition.truth() ? arg(1) : arg(2);
    }
    case Form::comprehension:
      return comprehension(code, scope);
    case Form::spread:
      return spread(code, scope);
    case Form::member_index:
      return Quantity::of(static_cast<std::int64_t>(scope.member));
    case Form::member_count:
      return Quantity::of(static_cast<std::int64_t>(scope.bindings.count(code.member_set)));
  }
  return {};
}

Quantity value_of(const Code& code, const Scope& scope) {
  Quantity made = computed(code, scope);
  spend(code, scope, 1 + made.list.size());
  return made;
}

Quantity evaluate(const Code& code, const Scope& scope) {
  scope.bindings.work = 0;
  return value_of(code, scope);
}

}
