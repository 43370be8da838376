#include "core/proof/symbolic/right_side.h"

#include <algorithm>

#include "core/rules/instantiate/evaluate.h"

namespace regraft::proof {
namespace {

using Form = rules::RightStep::Form;
using Kind = SymbolicQuantity::Kind;

SymbolicTensor number_tensor(const SymbolicQuantity& q, ProofCase& state, Index dims) {
  Poly value;
  if (q.kind == Kind::real)
    value = q.real;
  else if (q.kind == Kind::integer)
    value = real_of(static_cast<double>(state.literal(q.items[0]))).real;
  else
    throw Unprovable("a constant that is no number");
  SymbolicTensor out;
  out.dims = std::move(dims);
  out.at = [value](const Index&) { return value; };
  return out;
}

SymbolicTensor integers(const Index& items, ProofCase& state, bool scalar) {
  SymbolicTensor out;
  if (!scalar) out.dims = {state.number(std::ssize(items))};
  out.integer_at = [items, scalar](const Index& index) {
    z3::expr value = items.back();
    for (std::size_t i = items.size() - 1; !scalar && i-- > 0;)
      value = z3::ite(index[0] == static_cast<int>(i), items[i], value);
    return value;
  };
  return out;
}

// The matcher counts such an axis from the end; no case here does.
void refuse_below_zero(const SymbolicQuantity& axes) {
  for (const z3::expr& axis : axes.items) {
    std::int64_t value = 0;
    if (axis.simplify().is_numeral_i64(value) && value < 0)
      throw Unprovable("an axis below 0 on the right side");
  }
}

}  // namespace

bool RightSide::run() {
  for (const rules::RightStep& s : rule_.right) {
    const std::size_t count = s.member_set < 0 ? 1 : b_.count(s.member_set);
    for (std::size_t member = 0; member < count; ++member) {
      if (!step(s, member)) return false;
    }
  }
  return true;
}

bool RightSide::step(const rules::RightStep& s, std::size_t member) {
  switch (s.form) {
    case Form::let: {
      SymbolicQuantity value = evaluate(s.codes[0], {state_, b_, s.member_set, member});
      const bool known = value.kind != Kind::none;
      b_.quantity(*s.target, s.target->member_set < 0 ? 0 : member) = std::move(value);
      return known;
    }
    case Form::first_present: {
      const SymbolicInputs options = operands(s, member);
      const auto first =
          std::find_if(options.begin(), options.end(), [](const SymbolicTensor& t) { return t.present; });
      bind(s, member, {first == options.end() ? options.back() : *first});
      return true;
    }
    case Form::operation:
      return operation(s, member);
    default:
      return constant(s, member);
  }
}

SymbolicInputs RightSide::operands(const rules::RightStep& s, std::size_t member) {
  SymbolicInputs out;
  for (const rules::RightOperand& operand : s.operands) {
    if (operand.absent) {
      out.push_back(SymbolicTensor::absent());
      continue;
    }
    if (!operand.slot) {
      out.push_back(number_tensor(evaluate(operand.number, {state_, b_, s.member_set, member}), state_, {}));
      continue;
    }
    const std::int16_t member_set = operand.slot->member_set;
    const std::size_t count = operand.spread ? b_.count(member_set) : 1;
    for (std::size_t i = 0; i < count; ++i)
      out.push_back(b_.tensor(*operand.slot, operand.spread ? i : member_set < 0 ? 0 : member).value());
  }
  return out;
}

bool RightSide::operation(const rules::RightStep& s, std::size_t member) {
  OpCase op{s.kind, "", {}};
  if (s.op) op = b_.plain.ops[s.op->index].value();
  const graph::OpInfo& info = graph::op_info(op.kind);
  for (const auto& [attr, code] : s.attrs) {
    SymbolicQuantity value = evaluate(code, {state_, b_, s.member_set, member});
    if (value.kind == Kind::none) return false;
    if (value.kind == Kind::integer && rules::takes_real(attr))
      value = real_of(static_cast<double>(state_.literal(value.items[0])));
    if (attr == graph::Attr::axis || attr == graph::Attr::axes) refuse_below_zero(value);
    op.attrs[attr] = std::move(value);
  }
  for (const graph::AttrSpec& spec : info.attrs) {
    if (op.generic.empty() && !op.attrs.contains(spec.attr) && spec.fallback)
      op.attrs[spec.attr] = quantity_of(state_, *spec.fallback);
  }
  const SymbolicInputs inputs = operands(s, member);
  const bool list = info.is(graph::kVariadic);
  const std::size_t needed = list ? inputs.size() : std::min<std::size_t>(info.min_inputs, inputs.size());
  const auto absent = static_cast<std::size_t>(
      std::count_if(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(needed),
                    [](const SymbolicTensor& t) { return !t.present; }));
  if (absent > 0) {
    if (list && absent < needed) return false;
    bind(s, member, {SymbolicTensor::absent()});
    return true;
  }
  const std::size_t outputs = s.sequence_output ? b_.count(s.outputs[0].member_set) : s.outputs.size();
  bind(s, member, apply_symbolically(state_, op.kind, op.generic, op.attrs, inputs, outputs));
  return true;
}

bool RightSide::constant(const rules::RightStep& s, std::size_t member) {
  const SymbolicQuantity first = evaluate(s.codes[0], {state_, b_, s.member_set, member});
  if (first.kind != (s.form == Form::integer ? Kind::integer : Kind::list)) return false;
  if (s.form == Form::integers || s.form == Form::integer) {
    if (first.items.empty()) throw Unprovable("an empty list of indices");
    bind(s, member, {integers(first.items, state_, s.form == Form::integer)});
    return true;
  }
  if (s.form == Form::values) throw Unprovable("constants by element");
  bind(s, member,
       {number_tensor(evaluate(s.codes[1], {state_, b_, s.member_set, member}), state_, first.items)});
  return true;
}

void RightSide::bind(const rules::RightStep& s, std::size_t member, const std::vector<SymbolicTensor>& made) {
  for (std::size_t i = 0; i < made.size(); ++i) {
    const rules::Slot slot = s.outputs[s.sequence_output ? 0 : i];
    b_.tensor(slot, s.sequence_output ? i : slot.member_set < 0 ? 0 : member) = made[i];
  }
}

}
