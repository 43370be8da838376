#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "core/graph/attributes.h"

namespace regraft::graph {

/// `batch` products of [rows, inner] by [inner, columns].
struct MatrixProduct {
  double batch = 1, rows = 1, inner = 1, columns = 1;

  double multiply_adds() const { return batch * rows * inner * columns; }
  bool operator==(const MatrixProduct&) const = default;
};
/// The products that an Einsum makes, from its left operand to its right one; empty for one operand, and for
/// an equation that does not fit the dims. What one operand has alone and the output lacks is summed before.
std::vector<MatrixProduct> einsum_products(std::string_view equation, std::span<const Ints> dims);

}  // namespace regraft::graph
