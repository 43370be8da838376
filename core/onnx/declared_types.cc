#include "core/onnx/declared_types.h"

#include <algorithm>

#include "core/graph/dim_name.h"

namespace regraft::onnx {

using graph::Dim;
using graph::TensorType;

bool is_plain(graph::DType dtype) {
  return graph::is_float(dtype) || graph::is_integer(dtype) || dtype == graph::DType::boolean;
}

graph::TypeId declared_type(graph::Tables& tables, const ::onnx::TypeProto& type, const std::string& input) {
  if (!type.has_tensor_type()) return tables.type_none();
  const auto& declared = type.tensor_type();
  if (declared.elem_type() <= 0 || declared.elem_type() > 255) return tables.type_none();
  TensorType held{static_cast<graph::DType>(declared.elem_type()), declared.has_shape(), {}};
  for (const auto& dim : declared.shape().dim()) {
    if (dim.has_dim_value() && dim.dim_value() >= 0)
      held.dims.push_back(dim.dim_value());
    else if (graph::is_dim_name(dim.dim_param()))
      held.dims.push_back(graph::symbol_dim(tables.symbol(dim.dim_param())));
    else if (!input.empty())
      held.dims.push_back(graph::symbol_dim(tables.symbol(input + "." + std::to_string(held.rank()))));
    else
      held.dims.push_back(graph::symbol_dim(tables.fresh_symbol()));
  }
  return tables.intern(held);
}

graph::TypeId merge_types(graph::Tables& tables, graph::TypeId inferred, graph::TypeId declared) {
  const TensorType &known = tables.type(inferred), &said = tables.type(declared);
  if (inferred == tables.type_none()) return declared;
  if (inferred == declared || known.dtype != said.dtype || !said.ranked) return inferred;
  if (!known.ranked) return declared;
  if (known.rank() != said.rank()) return inferred;
  TensorType merged = known;
  const auto unknown = [&](Dim dim) {
    return graph::is_symbol(dim) && tables.symbol_name(graph::dim_symbol(dim)).find('?') != std::string::npos;
  };
  for (std::size_t i = 0; i < merged.rank(); ++i) {
    const Dim mine = known.dims[i], theirs = said.dims[i];
    if (!graph::is_symbol(mine)) {
      if (!graph::is_symbol(theirs) && mine != theirs) return inferred;
      continue;
    }
    if (unknown(mine) && !unknown(theirs)) merged.dims[i] = theirs;
  }
  return tables.intern(merged);
}

bool sizes_are_values(graph::OpKind kind, std::span<const graph::Operand> operands) {
  const auto given = [&](std::size_t input) {
    return input < operands.size() && operands[input].present &&
           operands[input].value == graph::WeightId::none &&
           (operands[input].elements.empty() ||
            !std::ranges::all_of(operands[input].elements, &graph::Element::known));
  };
  return (kind == graph::OpKind::constant_of_shape && given(0)) ||
         std::ranges::any_of(graph::op_info(kind).operand_attrs, given, &graph::OperandAttr::input);
}

}
