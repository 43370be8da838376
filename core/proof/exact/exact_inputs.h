#pragma once

#include <vector>

#include "core/base/rng.h"
#include "core/proof/exact/run_exactly.h"

namespace regraft::proof {

/// Ordinary values for all graph inputs: multiples of 2^-20 of magnitude 0.2 to 1.5; booleans; integers from
/// -4 to 4. Indices of a Gather lie within its dims, counted from either end.
ExactInputMap ordinary_inputs(const graph::Graph& graph, Rng& rng);

/// Values where a branch may go the other way, or a step lies: zeros, whole numbers and halves, values on,
/// beside and beyond one of the thresholds, and magnitudes of 2^-22 to 2^10. Some tensors have them in all
/// elements, others in none.
ExactInputMap corner_inputs(const graph::Graph& graph, const std::vector<double>& thresholds, Rng& rng);

/// Adds the numbers that the graph compares with, or may: elements of small constants, and real attributes.
void add_thresholds(const graph::Graph& graph, std::vector<double>& thresholds);

}
