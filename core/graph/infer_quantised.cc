#include "core/graph/infer.h"

namespace regraft::graph {
namespace {

/// Elements of a scale or a zero point: one, or one for each place along an axis.
std::int64_t parameters(const Tables& tables, const OpInfo& op, Operands operands, std::size_t slot) {
  const TensorType& type = operand_type(tables, operands, slot);
  const auto count = type.is_static() ? type.element_count() : std::nullopt;
  if (!count || type.rank() > 1) fail(op, "a scale or a zero point is neither a number nor a static vector");
  return *count;
}

/// The scales, as many zero points, and the axis that they go along.
void check_parameters(const Tables& tables, const OpInfo& op, const AttrBlock& attrs, Operands operands) {
  const TensorType& x = operand_type(tables, operands, 0);
  if (!is_float(operand_type(tables, operands, 1).dtype)) fail(op, "the scale is no floating number");
  const std::int64_t scales = parameters(tables, op, operands, 1);
  if (has_operand(operands, 2) && parameters(tables, op, operands, 2) != scales)
    fail(op, "scales and zero points differ in number");
  if (scales == 1) return;
  const auto axis = static_cast<std::size_t>(attrs.integer(Attr::axis));
  if (!x.ranked || axis >= x.rank()) fail(op, "scales by axis of a rank that has it not");
  if (!is_symbol(x.dims[axis]) && x.dims[axis] != scales) fail(op, "the scales do not fit the axis");
}

/// What is quantised otherwise has no canonical form.
void require_bytes(const OpInfo& op, DType dtype, bool sums) {
  const bool known = dtype == DType::uint8 || dtype == DType::int8 || (sums && dtype == DType::int32);
  if (!known) fail(op, "elements of " + dtype_name(dtype) + " have no canonical form");
}

}  // namespace

TypeList infer_quantize(Tables& tables, const OpInfo& op, const AttrBlock& attrs, Operands operands) {
  TensorType x = operand_type(tables, operands, 0);
  if (x.dtype != operand_type(tables, operands, 1).dtype) fail(op, "mixes element types");
  check_parameters(tables, op, attrs, operands);
  x.dtype = static_cast<DType>(attrs.integer(Attr::to));
  require_bytes(op, x.dtype, false);
  return TypeList{tables.intern(x)};
}

TypeList infer_dequantize(Tables& tables, const OpInfo& op, const AttrBlock& attrs, Operands operands) {
  TensorType x = operand_type(tables, operands, 0);
  require_bytes(op, x.dtype, true);
  if (has_operand(operands, 2) && operand_type(tables, operands, 2).dtype != x.dtype)
    fail(op, "mixes element types");
  check_parameters(tables, op, attrs, operands);
  x.dtype = operand_type(tables, operands, 1).dtype;
  return TypeList{tables.intern(x)};
}

void normalise_quantised(Tables& tables, const OpInfo& op, AttrBlock& attrs, Operands operands) {
  if (parameters(tables, op, operands, 1) == 1)
    attrs.set(Attr::axis, std::int64_t{0});
  else
    normalise_axis(tables, op, attrs, operands);
  if (op.kind != OpKind::quantize_linear) return;
  const DType bytes = has_operand(operands, 2) ? operand_type(tables, operands, 2).dtype : DType::uint8;
  attrs.set(Attr::to, static_cast<std::int64_t>(bytes));
}

}
