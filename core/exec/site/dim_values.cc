#include "core/exec/site/dim_values.h"

#include "core/exec/runtime/exec_error.h"
#include "core/graph/dim_formula.h"

namespace regraft::exec {

std::int64_t DimValues::value(graph::Dim dim) const {
  if (!graph::is_symbol(dim)) return dim;
  if (const auto bound = bindings_.find(graph::dim_symbol(dim))) return *bound;
  const std::string& name = tables_.symbol_name(graph::dim_symbol(dim));
  if (!graph::is_formula(name)) return unbound_;
  const auto lookup = [this](std::string_view part) -> std::optional<std::int64_t> {
    const auto symbol = tables_.find_symbol(part);
    return symbol ? std::optional(value(graph::symbol_dim(*symbol))) : std::nullopt;
  };
  try {
    return graph::evaluate_formula(name, lookup).value_or(unbound_);
  } catch (const graph::GraphError& error) {
    throw ExecError(error.problem(), error.where(), error.remedy());
  }
}

std::vector<std::int64_t> DimValues::sizes(const graph::TensorType& type) const {
  if (!type.ranked) throw ExecError("the rank of a value is unknown", "shape", "");
  std::vector<std::int64_t> sizes;
  for (const graph::Dim dim : type.dims) {
    sizes.push_back(value(dim));
    if (sizes.back() < 0) throw ExecError("a dim is negative at these sizes", "shape", "bind other sizes");
  }
  return sizes;
}

double DimValues::elements(const graph::TensorType& type) const {
  double product = 1;
  for (const std::int64_t size : sizes(type)) product *= static_cast<double>(size);
  return product;
}

}
