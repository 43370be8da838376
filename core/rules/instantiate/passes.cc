#include "core/rules/instantiate/passes.h"

#include "core/graph/constants.h"
#include "core/rules/instantiate/evaluate.h"

namespace regraft::rules {
namespace {

using Form = Code::Form;
using Kind = Quantity::Kind;

// Guards ask for one bit, and mostly of numbers that stand somewhere: no Quantity is made for these. What
// they take is counted as evaluate() does.
enum class Truth : std::uint8_t { unknown, no, yes };

Truth truth_of(const Code& code, const Scope& scope);

Truth truth_of(bool value) {
  return value ? Truth::yes : Truth::no;
}

// An integer that needs no computing, at the price of value_of() or, where it is only looked at, of seen().
std::optional<std::int64_t> integer_at(const Code& code, const Scope& scope) {
  const auto held = [&](const Code& at) -> const Quantity* {
    if (at.form == Form::literal) return &at.literal;
    const bool there = at.form == Form::variable && !without_member(at.slot, scope);
    return there ? &scope.bindings.quantity(at.slot, member_of(at.slot, scope)) : nullptr;
  };
  if (code.form != Form::call) {
    const Quantity* const quantity = held(code);
    return quantity && quantity->kind == Kind::integer ? std::optional(quantity->integer) : std::nullopt;
  }
  if (code.function == Function::len && code.args.size() == 1) {
    const Quantity* const list = held(code.args[0]);
    if (!list || list->kind != Kind::list) return std::nullopt;
    spend(code.args[0], scope, 1 + list->list.size());
    spend(code, scope, 1);
    return static_cast<std::int64_t>(list->list.size());
  }
  if (code.tensors.empty()) return std::nullopt;
  const Tensor& tensor = tensor_at(code.tensors[0], scope);
  if (!tensor.present()) return std::nullopt;
  const graph::TensorType& type = scope.graph.tables().type(tensor.type);
  std::optional<std::int64_t> found;
  if (code.function == Function::rank && type.ranked) found = static_cast<std::int64_t>(type.rank());
  if (code.function == Function::size) found = type.element_count();
  if (code.function == Function::dtype) found = static_cast<std::int64_t>(type.dtype);
  if (code.function == Function::type) found = static_cast<std::int64_t>(tensor.type);
  if (found) spend(code, scope, 1);
  return found;
}

Truth compared(const Code& code, const Scope& scope) {
  const std::optional<std::int64_t> left = integer_at(code.args[0], scope);
  const std::optional<std::int64_t> right = left ? integer_at(code.args[1], scope) : std::nullopt;
  const auto truth = [](const Quantity& q) {
    return q.kind == Kind::boolean ? truth_of(q.truth()) : Truth::unknown;
  };
  if (!left) return truth(computed(code, scope));
  if (!right) {
    Quantity made;
    const Quantity& other = seen(code.args[1], scope, made);
    spend(code, scope, other.list.size());
    return truth(compare(code.symbol, Quantity::of(*left), other));
  }
  if (code.symbol == "==" || code.symbol == "!=") return truth_of((*left == *right) == (code.symbol == "=="));
  if (is_symbolic(*left) || is_symbolic(*right)) return Truth::unknown;
  const std::int64_t a = *left, b = *right;
  const bool strict = code.symbol.size() == 1;
  if (code.symbol[0] == '<') return truth_of(strict ? a < b : a <= b);
  return truth_of(strict ? a > b : a >= b);
}

// As call_tensors() has it.
Truth all_are(const Code& code, const Scope& scope) {
  for (const Slot slot : code.tensors) {
    const Tensor& tensor = tensor_at(slot, scope);
    if (code.function == Function::present) return truth_of(tensor.present());
    if (!tensor.present()) return truth_of(code.function == Function::is_const);
    bool is = tensor.constant();
    if (code.function == Function::scalar)
      is = is && graph::scalar_value(scope.graph.tables(), tensor.weight).has_value();
    if (code.function == Function::floating)
      is = graph::is_float(scope.graph.tables().type(tensor.type).dtype);
    if (!is) return Truth::no;
  }
  return Truth::yes;
}

bool asks_one_bit(const Code& code) {
  return !code.tensors.empty() &&
         (code.function == Function::present || code.function == Function::is_const ||
          code.function == Function::scalar || code.function == Function::floating);
}

Truth truth_of(const Code& code, const Scope& scope) {
  const auto holds = [&](std::size_t i) { return truth_of(code.args[i], scope) == Truth::yes; };
  Truth truth = Truth::unknown;
  if (code.form == Form::conjunction) {
    truth = truth_of(holds(0) && holds(1));
  } else if (code.form == Form::disjunction) {
    truth = truth_of(holds(0) || holds(1));
  } else if (code.form == Form::negation) {
    const Truth inner = truth_of(code.args[0], scope);
    if (inner != Truth::unknown) truth = truth_of(inner == Truth::no);
  } else if (code.form == Form::compare) {
    truth = compared(code, scope);
  } else if (code.form == Form::call && asks_one_bit(code)) {
    truth = all_are(code, scope);
  } else {
    const Quantity value = value_of(code, scope);
    return value.kind == Kind::boolean ? truth_of(value.truth()) : Truth::unknown;
  }
  spend(code, scope, 1);
  return truth;
}

}  // namespace

bool passes(const Check& check, const graph::Graph& graph, Bindings& bindings) {
  const std::size_t count = check.member_set < 0 ? 1 : bindings.count(check.member_set);
  for (std::size_t member = 0; member < count; ++member) {
    const Scope scope{graph, bindings, check.member_set, member};
    if (!check.target) {
      bindings.work = 0;
      if (truth_of(check.code, scope) != Truth::yes) return false;
      continue;
    }
    const Quantity value = evaluate(check.code, scope);
    if (!value.known()) return false;
    bindings.quantity(*check.target, member) = value;
  }
  return true;
}

}
