#include <algorithm>

#include "core/proof/symbolic/symbolic_rule.h"
#include "core/rules/instantiate/evaluate.h"

namespace regraft::proof {
namespace {

using rules::Code;
using rules::Function;
using Kind = SymbolicQuantity::Kind;

constexpr std::int64_t kLongestRange = 1000;  // less than the matcher's

const std::optional<SymbolicTensor>& tensor_at(rules::Slot slot, const SymbolicScope& scope) {
  return scope.bindings.tensor(slot, slot.member_set == scope.member_set ? scope.member : 0);
}

// What is not part of the proof, but the same wherever it is asked of the same tensor.
std::string name_of(const char* what, rules::Slot slot, const SymbolicScope& scope) {
  return std::string(what) + "_" + std::to_string(slot.member_set + 1) + "_" + std::to_string(slot.index) +
         "_" + std::to_string(slot.member_set == scope.member_set ? scope.member : 0);
}

// The elements of a tensor of indices, where their number is known.
Index elements_of(const SymbolicTensor& tensor, const SymbolicScope& scope) {
  if (!tensor.integer_at) throw Unprovable("the values of a real tensor");
  if (tensor.dims.empty()) return {tensor.integer_at({})};
  if (tensor.dims.size() != 1 || !scope.state.follows(tensor.dims[0] == 1))
    throw Unprovable("a list of indices of unknown length");
  return {tensor.integer_at({scope.state.number(0)})};
}

SymbolicQuantity of_tensor(Function function, rules::Slot slot, const SymbolicTensor& tensor,
                           const SymbolicScope& scope) {
  z3::context& context = scope.state.context();
  switch (function) {
    case Function::rank:
      return quantity_of(scope.state.number(std::ssize(tensor.dims)));
    case Function::dims:
    case Function::type:
      return quantity_of(tensor.dims);
    case Function::size:
      return quantity_of(product_of(context, tensor.dims));
    case Function::dtype:
      return quantity_of(context.int_const(name_of("dtype", slot, scope).c_str()));
    case Function::is_const:
      return truth_of(context.bool_const(name_of("const", slot, scope).c_str()));
    case Function::floating:
      return truth_of(context.bool_const(name_of("float", slot, scope).c_str()));
    case Function::output:
      return truth_of(context.bool_const(name_of("output", slot, scope).c_str()));
    case Function::uses:
      return quantity_of(context.int_const(name_of("uses", slot, scope).c_str()));
    case Function::value:
      return quantity_of(elements_of(tensor, scope).at(0));
    case Function::ints:
      return quantity_of(elements_of(tensor, scope));
    default:
      throw Unprovable("a guard on the values of a tensor");
  }
}

SymbolicQuantity of_tensors(const Code& code, const SymbolicScope& scope) {
  SymbolicQuantity result;
  const bool predicate = code.function == Function::is_const || code.function == Function::scalar ||
                         code.function == Function::floating;
  z3::expr all = scope.state.context().bool_val(true);
  for (rules::Slot slot : code.tensors) {
    const auto& tensor = tensor_at(slot, scope);
    const bool present = tensor && tensor->present;
    if (code.function == Function::present) return truth_of(scope.state.context().bool_val(present));
    if (!present && !predicate) return {};
    if (!present) {
      all = all && scope.state.context().bool_val(code.function == Function::is_const);
      continue;
    }
    result = of_tensor(code.function, slot, *tensor, scope);
    if (!predicate) return result;
    all = all && result.items[0];
  }
  return truth_of(all);
}

std::vector<std::size_t> literals(const SymbolicQuantity& list, const SymbolicScope& scope) {
  std::vector<std::size_t> out;
  for (const z3::expr& item : list.items) {
    std::int64_t value = scope.state.literal(item);
    if (value < 0) value += std::ssize(list.items);
    out.push_back(static_cast<std::size_t>(value));
  }
  return out;
}

SymbolicQuantity reduced(Function function, const Index& list, const SymbolicScope& scope) {
  if (function == Function::prod) return quantity_of(product_of(scope.state.context(), list));
  if (function == Function::sum) {
    z3::expr sum = scope.state.number(0);
    for (const z3::expr& item : list) sum = sum + item;
    return quantity_of(sum.simplify());
  }
  if (list.empty()) return {};
  z3::expr best = list[0];
  for (const z3::expr& item : list)
    best = z3::ite(function == Function::max ? item > best : item < best, item, best);
  return quantity_of(best);
}

SymbolicQuantity of_list(Function function, SymbolicQuantity list, const SymbolicScope& scope) {
  switch (function) {
    case Function::len:
      return quantity_of(scope.state.number(std::ssize(list.items)));
    case Function::reverse:
      std::reverse(list.items.begin(), list.items.end());
      return list;
    case Function::invert: {
      Index out(list.items.size(), scope.state.number(0));
      const auto perm = literals(list, scope);
      for (std::size_t i = 0; i < perm.size(); ++i)
        out.at(perm[i]) = scope.state.number(static_cast<std::int64_t>(i));
      return quantity_of(std::move(out));
    }
    case Function::sum:
    case Function::prod:
    case Function::max:
    case Function::min:
      return reduced(function, list.items, scope);
    default:
      throw Unprovable("a function of lists");
  }
}

// The first place where the matcher sees it: equal dims that it does not know to be the same it passes over.
SymbolicQuantity position_of(const SymbolicQuantity& list, const z3::expr& wanted,
                             const SymbolicScope& scope) {
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    if (scope.state.decide(seen_equal(list.items[i], wanted, scope)))
      return quantity_of(scope.state.number(static_cast<std::int64_t>(i)));
  }
  return {};
}

SymbolicQuantity changed(Function function, SymbolicQuantity list, const std::vector<SymbolicQuantity>& args,
                         const SymbolicScope& scope) {
  const auto at = scope.state.literal(args[1].items.at(0));
  const auto size = std::ssize(list.items) + (function == Function::insert ? 1 : 0);
  const auto i = at < 0 ? at + size : at;
  if (i < 0 || i >= size) return {};
  if (function == Function::set) list.items[static_cast<std::size_t>(i)] = args[2].items.at(0);
  if (function == Function::remove) list.items.erase(list.items.begin() + i);
  if (function == Function::insert) list.items.insert(list.items.begin() + i, args[2].items.at(0));
  return list;
}

}  // namespace

SymbolicQuantity symbolic_call(const Code& code, const SymbolicScope& scope) {
  if (code.form == Code::Form::dim) {
    const auto& tensor = tensor_at(code.tensors[0], scope);
    const SymbolicQuantity at = evaluate(code.args[0], scope);
    if (!tensor || !tensor->present || at.kind != Kind::integer) return {};
    std::int64_t i = scope.state.literal(at.items[0]);
    if (i < 0) i += std::ssize(tensor->dims);
    return i < 0 || i >= std::ssize(tensor->dims) ? SymbolicQuantity{}
                                                  : quantity_of(tensor->dims[static_cast<std::size_t>(i)]);
  }
  if (!code.tensors.empty()) return of_tensors(code, scope);
  std::vector<SymbolicQuantity> args;
  for (const Code& arg : code.args) {
    args.push_back(evaluate(arg, scope));
    if (args.back().kind == Kind::none) return {};
  }
  if (code.function == Function::range) {
    const std::int64_t first = args.size() > 1 ? scope.state.literal(args[0].items.at(0)) : 0;
    const std::int64_t last = scope.state.literal(args.back().items.at(0));
    if (last - first > kLongestRange) throw Unprovable("a range of so many numbers");
    Index out;
    for (std::int64_t i = first; i < last; ++i) out.push_back(scope.state.number(i));
    return last < first ? SymbolicQuantity{} : quantity_of(std::move(out));
  }
  if (args.size() == 2 && (code.function == Function::max || code.function == Function::min))
    return reduced(code.function, {args[0].items.at(0), args[1].items.at(0)}, scope);
  if (args[0].kind != Kind::list) return {};
  if (args.size() == 1) return of_list(code.function, args[0], scope);
  if (code.function == Function::permute) {
    Index out;
    for (const z3::expr& item : args[1].items) {
      const std::int64_t i = scope.state.literal(item);
      if (i < 0 || i >= std::ssize(args[0].items)) return {};
      out.push_back(args[0].items[static_cast<std::size_t>(i)]);
    }
    return quantity_of(std::move(out));
  }
  if (code.function == Function::position) return position_of(args[0], args[1].items.at(0), scope);
  return changed(code.function, args[0], args, scope);
}

}
