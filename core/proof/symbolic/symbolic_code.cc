#include <algorithm>

#include "core/proof/symbolic/symbolic_rule.h"
#include "core/rules/instantiate/evaluate.h"

namespace regraft::proof {
namespace {

using rules::Code;
using rules::Function;
using Form = rules::Code::Form;
using Kind = SymbolicQuantity::Kind;

z3::expr combine(char op, const z3::expr& a, const z3::expr& b) {
  switch (op) {
    case '+':
      return (a + b).simplify();
    case '-':
      return (a - b).simplify();
    case '*':
      return (a * b).simplify();
    case '/':
      return (a / b).simplify();
    default:
      return z3::mod(a, b).simplify();
  }
}

SymbolicQuantity arithmetic(char op, const SymbolicQuantity& a, const SymbolicQuantity& b,
                            const SymbolicScope& scope) {
  const bool divides = op == '/' || op == '%';
  if (a.kind == Kind::none || b.kind == Kind::none) return {};
  if (a.kind == Kind::real || b.kind == Kind::real) throw Unprovable("arithmetic on real attributes");
  const auto one = [&](const z3::expr& x, const z3::expr& y) {
    // Floor division is Z3's only for positive divisors.
    if (divides && !scope.state.decide(y > 0)) throw Unprovable("a division by what may not be positive");
    return combine(op, x, y);
  };
  if (a.kind != Kind::list && b.kind != Kind::list) return quantity_of(one(a.items[0], b.items[0]));
  if (a.kind == Kind::list && b.kind == Kind::list && a.items.size() != b.items.size()) return {};
  Index out;
  const std::size_t count = a.kind == Kind::list ? a.items.size() : b.items.size();
  for (std::size_t i = 0; i < count; ++i)
    out.push_back(one(a.items[a.kind == Kind::list ? i : 0], b.items[b.kind == Kind::list ? i : 0]));
  return quantity_of(std::move(out));
}

// How a condition is read: as it stands, or as an assumption, which may say less than the matcher sees.
enum class ConditionMode : std::uint8_t { exact, assumed };

z3::expr equal(const SymbolicQuantity& a, const SymbolicQuantity& b, ConditionMode mode,
               const SymbolicScope& scope) {
  z3::context& context = scope.state.context();
  if (a.kind == Kind::none || b.kind == Kind::none) return context.bool_val(false);
  if (a.kind == Kind::text || b.kind == Kind::text)
    return context.bool_val(a.kind == b.kind && a.text == b.text);
  if (a.kind == Kind::real || b.kind == Kind::real) {
    const auto literal = [&](const SymbolicQuantity& q) -> std::optional<double> {
      if (q.kind == Kind::real) return q.literal;
      return static_cast<double>(scope.state.literal(q.items[0]));
    };
    const auto x = literal(a), y = literal(b);
    // Whether an unknown number is this one: both are possible, and the proof is for both.
    if (!x || !y) return z3::expr(context, Z3_mk_fresh_const(context, "same_number", context.bool_sort()));
    return context.bool_val(static_cast<float>(*x) == static_cast<float>(*y));
  }
  const bool both = a.kind == Kind::list && b.kind == Kind::list;
  if (both && a.items.size() != b.items.size()) return context.bool_val(false);
  z3::expr all = context.bool_val(true);
  const std::size_t count = a.kind == Kind::list ? a.items.size() : b.kind == Kind::list ? b.items.size() : 1;
  for (std::size_t i = 0; i < count; ++i) {
    const z3::expr &x = a.items[a.kind == Kind::list ? i : 0], &y = b.items[b.kind == Kind::list ? i : 0];
    all = all && (mode == ConditionMode::assumed ? x == y : seen_equal(x, y, scope));
  }
  return all.simplify();
}

SymbolicQuantity compare(const Code& code, ConditionMode mode, const SymbolicScope& scope) {
  const std::string& op = code.symbol;
  const SymbolicQuantity a = evaluate(code.args[0], scope), b = evaluate(code.args[1], scope);
  if (a.kind == Kind::none || b.kind == Kind::none) return {};
  if (op == "==") return truth_of(equal(a, b, mode, scope));
  if (op == "!=") return truth_of(!equal(a, b, ConditionMode::exact, scope));
  if (a.kind == Kind::real || b.kind == Kind::real || b.kind == Kind::list)
    throw Unprovable("a comparison of real numbers");
  z3::expr all = scope.state.context().bool_val(true);
  for (const z3::expr& x : a.items) {
    const z3::expr& y = b.items[0];
    all = all && (op == "<" ? x < y : op == "<=" ? x <= y : op == ">" ? x > y : x >= y);
  }
  return truth_of(all.simplify());
}

std::optional<std::size_t> place(const SymbolicQuantity& at, std::size_t size, const SymbolicScope& scope) {
  std::int64_t i = scope.state.literal(at.items[0]);
  if (i < 0) i += static_cast<std::int64_t>(size);
  if (i < 0 || i >= static_cast<std::int64_t>(size)) return std::nullopt;
  return static_cast<std::size_t>(i);
}

SymbolicQuantity element(const SymbolicQuantity& list, const SymbolicQuantity& at,
                         const SymbolicScope& scope) {
  if (list.kind != Kind::list || at.kind != Kind::integer) return {};
  const auto i = place(at, list.items.size(), scope);
  return i ? quantity_of(list.items[*i]) : SymbolicQuantity{};
}

SymbolicQuantity part(const Code& code, const SymbolicScope& scope) {
  const SymbolicQuantity list = evaluate(code.args[0], scope);
  if (list.kind != Kind::list) return {};
  const auto size = static_cast<std::int64_t>(list.items.size());
  const auto bound = [&](const Code& c, std::int64_t otherwise) {
    if (c.form == Form::literal && !c.literal.known()) return otherwise;
    const std::int64_t i = scope.state.literal(evaluate(c, scope).items.at(0));
    return std::clamp<std::int64_t>(i < 0 ? i + size : i, 0, size);
  };
  const std::int64_t from = bound(code.args[1], 0), to = std::max(from, bound(code.args[2], size));
  return quantity_of(Index(list.items.begin() + from, list.items.begin() + to));
}

z3::expr number_of_truth(const SymbolicQuantity& truth, const SymbolicScope& scope) {
  return z3::ite(truth.items[0], scope.state.number(1), scope.state.number(0));
}

SymbolicQuantity list_of(const Code& code, const SymbolicScope& scope) {
  Index out;
  for (const Code& arg : code.args) {
    const SymbolicQuantity value = evaluate(arg, scope);
    if (value.kind == Kind::boolean)
      out.push_back(number_of_truth(value, scope));
    else if (value.kind == Kind::integer || (value.kind == Kind::list && arg.form == Form::spread))
      out.insert(out.end(), value.items.begin(), value.items.end());
    else
      return {};
  }
  return quantity_of(std::move(out));
}

// Whether the matcher has a value where the prover has one: nothing is computed of dims or large numbers.
bool always_known(const Code& code) {
  const auto all_known = [&] { return std::all_of(code.args.begin(), code.args.end(), always_known); };
  switch (code.form) {
    case Form::conjunction:
    case Form::disjunction:
    case Form::literal:
    case Form::variable:
    case Form::member_index:
    case Form::member_count:
      return true;
    case Form::negation:
    case Form::dim:
    case Form::index:
    case Form::slice:
    case Form::odd:
    case Form::even:
    case Form::member_of:
      return all_known();
    case Form::compare:  // dims without a number have no order
      return (code.symbol == "==" || code.symbol == "!=") && all_known();
    case Form::call:
      return code.function == Function::present || code.function == Function::is_const ||
             code.function == Function::scalar || code.function == Function::floating ||
             code.function == Function::rank || code.function == Function::dims ||
             (code.function == Function::len && all_known());
    default:
      return false;
  }
}

// For "and", "or" and the condition of a comprehension: what has no value is false.
z3::expr part_of_connected(const Code& code, ConditionMode mode, const SymbolicScope& scope) {
  const bool asserted = mode == ConditionMode::assumed;
  const SymbolicQuantity q = asserted ? assumed(code, scope) : evaluate(code, scope);
  if (q.kind != Kind::boolean) return scope.state.context().bool_val(false);
  return asserted || always_known(code) ? q.items[0] : scope.state.maybe() && q.items[0];
}

SymbolicQuantity comprehension(const Code& code, const SymbolicScope& scope) {
  const SymbolicQuantity source = evaluate(code.args[1], scope);
  if (source.kind != Kind::list) return {};
  Index out;
  for (const z3::expr& item : source.items) {
    scope.bindings.quantity(code.slot, 0) = quantity_of(item);
    if (code.args.size() > 2 &&
        !scope.state.decide(part_of_connected(code.args[2], ConditionMode::exact, scope)))
      continue;
    const SymbolicQuantity value = evaluate(code.args[0], scope);
    if (value.kind == Kind::integer)
      out.push_back(value.items[0]);
    else if (value.kind == Kind::boolean)
      out.push_back(number_of_truth(value, scope));
    else
      return {};
  }
  return quantity_of(std::move(out));
}

SymbolicQuantity spread(const Code& code, const SymbolicScope& scope) {
  Index out;
  for (std::size_t member = 0; member < scope.bindings.count(code.member_set); ++member) {
    const SymbolicQuantity value =
        evaluate(code.args[0], {scope.state, scope.bindings, code.member_set, member});
    if (value.kind != Kind::integer) return {};
    out.push_back(value.items[0]);
  }
  return quantity_of(std::move(out));
}

// It is false for a dim that the matcher does not know.
SymbolicQuantity parity(const SymbolicQuantity& q, int wanted, ConditionMode mode,
                        const SymbolicScope& scope) {
  if (q.kind != Kind::integer && q.kind != Kind::list) return {};
  z3::expr all = scope.state.context().bool_val(true);
  for (const z3::expr& item : q.items) {
    const bool known = mode == ConditionMode::assumed || scope.state.concrete(item);
    if (!known) all = all && scope.state.maybe();
    all = all && z3::mod(item, scope.state.number(2)) == wanted;
  }
  return truth_of(all);
}

SymbolicQuantity connected(const Code& code, ConditionMode mode, const SymbolicScope& scope) {
  const z3::expr first = part_of_connected(code.args[0], mode, scope);
  // The second part may be meaningless where the first decides.
  const bool conjunction = code.form == Form::conjunction;
  if (scope.state.follows(conjunction ? !first : first))
    return truth_of(scope.state.context().bool_val(!conjunction));
  const z3::expr second = part_of_connected(code.args[1], mode, scope);
  return truth_of(conjunction ? first && second : first || second);
}

SymbolicQuantity conditional(const Code& code, const SymbolicScope& scope) {
  const SymbolicQuantity condition = evaluate(code.args[0], scope);
  if (condition.kind != Kind::boolean) return {};
  return evaluate(code.args[scope.state.decide(condition.items[0]) ? 1 : 2], scope);
}

SymbolicQuantity literal_of(const rules::Quantity& q, const SymbolicScope& scope) {
  switch (q.kind) {
    case rules::Quantity::Kind::integer:
      return quantity_of(scope.state.number(q.integer));
    case rules::Quantity::Kind::real:
      return real_of(q.real);
    case rules::Quantity::Kind::list:
      return quantity_of(scope.state, graph::AttrValue(graph::Ints(q.list.begin(), q.list.end())));
    case rules::Quantity::Kind::text: {
      SymbolicQuantity out;
      out.kind = Kind::text;
      out.text = q.text;
      return out;
    }
    case rules::Quantity::Kind::boolean:
      return truth_of(scope.state.context().bool_val(q.truth()));
    default:
      return {};
  }
}

SymbolicQuantity negation(const Code& code, const SymbolicScope& scope) {
  const SymbolicQuantity q = evaluate(code.args[0], scope);
  return q.kind == Kind::boolean ? truth_of(!q.items[0]) : SymbolicQuantity{};
}

SymbolicQuantity contained(const Code& code, ConditionMode mode, const SymbolicScope& scope) {
  const SymbolicQuantity needle = evaluate(code.args[0], scope);
  z3::expr any = scope.state.context().bool_val(false);
  for (std::size_t i = 1; i < code.args.size(); ++i) {
    const SymbolicQuantity value = evaluate(code.args[i], scope);
    if (code.symbol == "set") {
      any = any || equal(needle, value, mode, scope);
    } else {
      for (const z3::expr& item : value.items) any = any || equal(needle, quantity_of(item), mode, scope);
    }
  }
  return truth_of(any);
}

}  // namespace

z3::expr seen_equal(const z3::expr& a, const z3::expr& b, const SymbolicScope& scope) {
  if (z3::eq(a, b) || (scope.state.concrete(a) && scope.state.concrete(b))) return a == b;
  return scope.state.maybe() && a == b;
}

SymbolicQuantity assumed(const Code& code, const SymbolicScope& scope) {
  switch (code.form) {
    case Form::compare:
      return compare(code, ConditionMode::assumed, scope);
    case Form::conjunction:
    case Form::disjunction:
      return connected(code, ConditionMode::assumed, scope);
    case Form::member_of:
      return contained(code, ConditionMode::assumed, scope);
    case Form::odd:
    case Form::even:
      return parity(evaluate(code.args[0], scope), code.form == Form::odd ? 1 : 0, ConditionMode::assumed,
                    scope);
    default:
      return evaluate(code, scope);
  }
}

SymbolicQuantity evaluate(const Code& code, const SymbolicScope& scope) {
  const auto arg = [&](std::size_t i) { return evaluate(code.args[i], scope); };
  switch (code.form) {
    case Form::literal:
      return literal_of(code.literal, scope);
    case Form::variable:
      if (code.slot.member_set >= 0 && scope.bindings.count(code.slot.member_set) == 0) return {};
      return scope.bindings.quantity(code.slot, code.slot.member_set == scope.member_set ? scope.member : 0);
    case Form::list:
      return list_of(code, scope);
    case Form::call:
    case Form::dim:
      return symbolic_call(code, scope);
    case Form::arithmetic:
      return arithmetic(code.symbol[0], arg(0), arg(1), scope);
    case Form::join: {
      SymbolicQuantity a = arg(0);
      const SymbolicQuantity b = arg(1);
      if (a.kind != Kind::list || b.kind != Kind::list) return {};
      a.items.insert(a.items.end(), b.items.begin(), b.items.end());
      return a;
    }
    case Form::compare:
      return compare(code, ConditionMode::exact, scope);
    case Form::conjunction:
    case Form::disjunction:
      return connected(code, ConditionMode::exact, scope);
    case Form::negation:
      return negation(code, scope);
    case Form::minus:
      return arithmetic('-', quantity_of(scope.state.number(0)), arg(0), scope);
    case Form::member_of:
      return contained(code, ConditionMode::exact, scope);
    case Form::odd:
    case Form::even:
      return parity(arg(0), code.form == Form::odd ? 1 : 0, ConditionMode::exact, scope);
    case Form::index:
      return element(arg(0), arg(1), scope);
    case Form::slice:
      return part(code, scope);
    case Form::conditional:
      return conditional(code, scope);
    case Form::comprehension:
      return comprehension(code, scope);
    case Form::spread:
      return spread(code, scope);
    case Form::member_index:
      return quantity_of(scope.state.number(static_cast<std::int64_t>(scope.member)));
    case Form::member_count:
      return quantity_of(
          scope.state.number(static_cast<std::int64_t>(scope.bindings.count(code.member_set))));
  }
  return {};
}

}
