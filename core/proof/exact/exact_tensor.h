#pragma once

#include <span>
#include <vector>

#include "core/graph/tables.h"
#include "core/proof/exact/exact.h"

namespace regraft::proof {

/// A dense tensor of exact values, row-major. Integers and booleans are values too.
struct ExactTensor {
  graph::DType dtype = graph::DType::float32;
  graph::Ints dims;
  std::vector<Exact> values;

  static ExactTensor zeros(graph::DType dtype, graph::Ints dims);
  std::size_t flat(std::span<const std::int64_t> index) const;
  const Exact& at(std::span<const std::int64_t> index) const { return values[flat(index)]; }
  /// As numpy broadcasts: an index of a shape that this one is repeated to.
  const Exact& broadcast_at(std::span<const std::int64_t> index) const;
};

/// The next index tuple in row-major order. False after the last.
bool next_index(graph::Ints& index, std::span<const std::int64_t> dims);

using ExactInputs = std::span<const ExactTensor* const>;  // null: an optional operand that is left out

/// The outputs of one operation in canonical form; `type` is that of its first output, as inferred. Throws
/// Undecided, and GraphError for ops that are not known here.
std::vector<ExactTensor> evaluate_exactly(graph::OpKind kind, const graph::AttrBlock& attrs,
                                          ExactInputs inputs, const graph::TensorType& type);

/// A function without attributes of one number: Sqrt, Exp...
Exact exact_function(graph::OpKind kind, const Exact& x);

// The parts of evaluate_exactly, by the kind of op.
ExactTensor exact_elementwise(graph::OpKind kind, const graph::AttrBlock& attrs, ExactInputs inputs,
                              ExactTensor out);
ExactTensor exact_linear(graph::OpKind kind, const graph::AttrBlock& attrs, ExactInputs inputs,
                         ExactTensor out);
ExactTensor exact_attention(const graph::AttrBlock& attrs, ExactInputs inputs, ExactTensor out);
std::vector<ExactTensor> exact_recurrence(graph::OpKind kind, ExactInputs inputs);
ExactTensor exact_normalisation(graph::OpKind kind, const graph::AttrBlock& attrs, ExactInputs inputs,
                                ExactTensor out);
ExactTensor exact_reduction(graph::OpKind kind, const graph::AttrBlock& attrs, ExactInputs inputs,
                            ExactTensor out);

}
