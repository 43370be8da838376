#pragma once

#include <map>
#include <vector>

#include "core/graph/graph.h"
#include "core/proof/exact/exact_tensor.h"

namespace regraft::proof {

using ExactInputMap = std::map<std::int32_t, ExactTensor>;  // by the origin of the graph input

/// The graph's outputs, computed exactly (exact.h); weights are taken as the numbers that they are.
/// Throws Undecided, and GraphError for ops that are not known.
std::vector<ExactTensor> run_exactly(const graph::Graph& graph, const ExactInputMap& inputs);

}
