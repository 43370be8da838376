#include "core/graph/infer.h"

namespace regraft::graph {
namespace {

/// Broadcast of all present operands from `first` on; nothing when one has no known rank.
std::optional<Dims> broadcast_all(Tables& tables, const OpInfo& op, Operands operands) {
  std::optional<Dims> dims;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const TensorType& type = operand_type(tables, operands, i);
    if (!type.ranked) return std::nullopt;
    const Dims held = type.dims;  // interning below may move nothing, but the reference is not ours
    dims = dims ? broadcast(tables, op, *dims, held) : held;
  }
  return dims;
}

TypeList result(Tables& tables, DType dtype, const std::optional<Dims>& dims) {
  return dims ? one_type(tables, dtype, *dims) : unranked(tables, dtype);
}

}  // namespace

TypeList infer_same(Tables&, const OpInfo&, const AttrBlock&, Operands operands) {
  return TypeList{operands[0].type};
}

TypeList infer_cast(Tables& tables, const OpInfo&, const AttrBlock& attrs, Operands operands) {
  TensorType type = operand_type(tables, operands, 0);
  type.dtype = static_cast<DType>(attrs.integer(Attr::to));
  return TypeList{tables.intern(type)};
}

TypeList infer_cast_like(Tables& tables, const OpInfo&, const AttrBlock&, Operands operands) {
  TensorType type = operand_type(tables, operands, 0);
  type.dtype = operand_type(tables, operands, 1).dtype;
  return TypeList{tables.intern(type)};
}

TypeList infer_broadcast(Tables& tables, const OpInfo& op, const AttrBlock&, Operands operands) {
  const DType dtype = operand_type(tables, operands, 0).dtype;
  for (std::size_t i = 1; i < operands.size(); ++i) {
    const bool may_differ = op.kind == OpKind::pow;
    if (operand_type(tables, operands, i).dtype != dtype && !may_differ)
      fail(op, "mixes " + dtype_name(dtype) + " and " + dtype_name(operand_type(tables, operands, i).dtype));
  }
  return result(tables, dtype, broadcast_all(tables, op, operands));
}

TypeList infer_prelu(Tables& tables, const OpInfo& op, const AttrBlock& attrs, Operands operands) {
  const TypeList types = infer_broadcast(tables, op, attrs, operands);
  const TensorType &x = operand_type(tables, operands, 0), &y = tables.type(types[0]);
  if (x.ranked && y.ranked && x.dims != y.dims) fail(op, "the slope does not broadcast to the input");
  return types;
}

TypeList infer_compare(Tables& tables, const OpInfo& op, const AttrBlock&, Operands operands) {
  if (operand_type(tables, operands, 0).dtype != operand_type(tables, operands, 1).dtype)
    fail(op, "compares different element types");
  return result(tables, DType::boolean, broadcast_all(tables, op, operands));
}

TypeList infer_where(Tables& tables, const OpInfo& op, const AttrBlock&, Operands operands) {
  if (operand_type(tables, operands, 0).dtype != DType::boolean) fail(op, "the condition is not boolean");
  const DType dtype = operand_type(tables, operands, 1).dtype;
  if (operand_type(tables, operands, 2).dtype != dtype) fail(op, "the branches differ in element type");
  return result(tables, dtype, broadcast_all(tables, op, operands));
}

}
