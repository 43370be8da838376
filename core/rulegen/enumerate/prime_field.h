#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "core/base/rng.h"
#include "core/graph/evaluate.h"
#include "core/graph/graph.h"

namespace regraft::rulegen {

/// The prime 2^31 - 1. Tensors over its field are graph::HostTensor of dtype int64 with elements in [0,
/// kPrime): sums, products and moves of elements are exact. So two expressions that differ as polynomials
/// agree at random points with probability at most degree / kPrime (Schwartz 1980, Zippel 1979). Relu and
/// maxima take an element x as x if x <= kPrime / 2, else as x - kPrime. Sums wrap around, so the signs of
/// independent values are independent. An identity that holds at random points then holds in each cell of
/// signs as one of polynomials.
inline constexpr std::int64_t kPrime = 2147483647;

using graph::HostTensor;

/// `value` (finite) as numerator / denominator with a denominator of at most 1024, in the field. Throws
/// RulegenError where it is no such number.
std::int64_t field_number(double value);
std::int64_t field_multiply(std::int64_t a, std::int64_t b);
std::int64_t field_inverse(std::int64_t a);

/// One operation over the field. Throws RulegenError for ops that have no meaning there (Sqrt, Exp...),
/// except Sigmoid and Tanh, which are fixed random functions of their element.
std::vector<HostTensor> field_evaluate(graph::OpKind kind, const graph::AttrBlock& attrs,
                                       std::span<const HostTensor* const> inputs);

HostTensor field_random(std::span<const std::int64_t> dims, Rng& rng);

/// Values of the graph's outputs, given those of its inputs by origin. Constants of the graph are taken as
/// field_number of their elements. Throws RulegenError.
std::vector<HostTensor> field_run(const graph::Graph& graph,
                                  const std::map<std::int32_t, HostTensor>& inputs);

/// A hash of dims and elements.
Hash128 field_hash(const HostTensor& tensor, std::uint64_t seed = 0);

}
