#include "core/graph/infer.h"

namespace regraft::graph {

const TensorType& operand_type(const Tables& tables, Operands operands, std::size_t i) {
  return tables.type(operands[i].type);
}

bool has_operand(Operands operands, std::size_t i) {
  return i < operands.size() && operands[i].present;
}

std::span<const Element> elements_of(Operands operands, std::size_t i) {
  return has_operand(operands, i) ? operands[i].elements : std::span<const Element>{};
}

TypeList one_type(Tables& tables, DType dtype, std::span<const Dim> dims) {
  return TypeList{tables.intern(dtype, dims)};
}

TypeList unranked(Tables& tables, DType dtype) {
  return TypeList{tables.intern(TensorType{dtype, false, {}})};
}

TypeList shaped_by_operand(Tables& tables, DType dtype, Operands operands, std::size_t slot) {
  if (!has_operand(operands, slot)) return unranked(tables, dtype);
  const TensorType& shape = operand_type(tables, operands, slot);
  Dims dims;
  for (const Element& element : elements_of(operands, slot))
    dims.push_back(element.is_dim() ? element.value : symbol_dim(tables.fresh_symbol()));
  if (!dims.empty()) return one_type(tables, dtype, dims);
  constexpr Dim kMostDims = 16;  // a shape of more elements is no shape that a runtime takes
  if (!shape.ranked || shape.rank() != 1 || is_symbol(shape.dims[0]) || shape.dims[0] > kMostDims)
    return unranked(tables, dtype);
  for (Dim i = 0, rank = shape.dims[0]; i < rank; ++i) dims.push_back(symbol_dim(tables.fresh_symbol()));
  return one_type(tables, dtype, dims);
}

std::int64_t resolve_axis(const OpInfo& op, std::int64_t axis, std::size_t rank, bool past_end) {
  const auto bound = static_cast<std::int64_t>(rank);
  const std::int64_t resolved = axis < 0 ? axis + bound : axis;
  if (resolved < 0 || resolved >= bound + (past_end ? 1 : 0))
    fail(op, "axis " + std::to_string(axis) + " is outside of rank " + std::to_string(rank));
  return resolved;
}

TypeList infer_types(Tables& tables, OpKind kind, const AttrBlock& attrs, std::span<const Operand> operands) {
  const OpInfo& op = op_info(kind);
  if (!op.infer) fail(op, "has no type inference");
  const bool too_many = operands.size() > op.max_inputs && !op.is(kVariadic);
  if (operands.size() < op.min_inputs || too_many)
    fail(op, "takes no " + std::to_string(operands.size()) + " inputs");
  for (std::size_t i = 0; i < op.min_inputs; ++i)
    if (!operands[i].present) fail(op, "input " + std::to_string(i) + " is missing");
  return op.infer(tables, op, attrs, operands);
}

}
