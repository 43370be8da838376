#pragma once

#include "core/graph/graph.h"

namespace regraft::graph {

/// Checks every invariant of a graph (acyclic, uses consistent, types as inferred) and throws GraphError on
/// the first that fails.
void validate(const Graph& graph);

}  // namespace regraft::graph
