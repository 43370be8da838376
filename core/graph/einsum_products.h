#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/attributes.h"
#include "core/graph/tables.h"

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

/// The labels of two operands and of the output, in this order, as numbers by first appearance. Nothing where
/// the equation does not fit, a term has a label twice, one operand alone has a label that is summed, or dims
/// of one label are not the same.
std::optional<Ints> einsum_labels(std::string_view equation, const Dims& a, const Dims& b);
/// The equation of such labels.
std::string einsum_equation(const Ints& labels, std::size_t rank_a, std::size_t rank_b);

/// The dims of what an Einsum gives; nothing for an equation that does not fit the dims.
/// Throws GraphError where numbers of one label do not fit each other.
std::optional<Dims> einsum_dims(Tables& tables, std::string_view equation, std::span<const Dims> dims);

}
