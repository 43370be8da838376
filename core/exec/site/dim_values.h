#pragma once

#include <cstdint>
#include <vector>

#include "core/graph/tables.h"

namespace regraft::exec {

/// Sizes of dims: numbers, bound symbols, and symbols that are formulas over others, as type inference names
/// them ("(2*n)",
/// "((h+-1)/2+1)"; core/graph/infer_common.cc). A symbol that is neither bound nor a formula has the size
/// `unbound`.
class DimValues {
 public:
  DimValues(const graph::Tables& tables, const graph::Bindings& bindings, std::int64_t unbound)
      : tables_(tables), bindings_(bindings), unbound_(unbound) {}

  /// Throws ExecError for a formula that divides by zero.
  std::int64_t value(graph::Dim dim) const;
  /// The sizes of a ranked type's dims. Throws ExecError for an unranked one, and where a formula gives no
  /// size.
  std::vector<std::int64_t> sizes(const graph::TensorType& type) const;
  /// Their product, which may be beyond integers.
  double elements(const graph::TensorType& type) const;

 private:
  const graph::Tables& tables_;
  const graph::Bindings& bindings_;
  std::int64_t unbound_;
};

}
