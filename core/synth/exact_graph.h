#pragma once

#include <map>
#include <vector>

#include "core/base/rng.h"
#include "core/graph/graph.h"
#include "core/synth/exact_tensor.h"

namespace regraft::synth {

using ExactInputMap = std::map<std::int32_t, ExactTensor>;  // by the origin of the graph input

/// Values for all graph inputs: multiples of 2^-20 of magnitude 0.2 to 1.5; booleans; integers from -4 to 4,
/// of those that say which rows a Gather reads -1 or 0, which every dim has.
ExactInputMap exact_inputs(const graph::Graph& graph, Rng& rng);

/// The graph's outputs, computed exactly (synth/exact.h); weights are taken as the numbers that they are.
/// Throws Undecided, and GraphError for ops that are not known.
std::vector<ExactTensor> run_exactly(const graph::Graph& graph, const ExactInputMap& inputs);

}  // namespace regraft::synth
