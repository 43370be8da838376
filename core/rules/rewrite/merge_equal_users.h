#pragma once

// Internal to core/rules: equal operations become one after a rewrite.

#include <vector>

#include "core/graph/graph.h"

namespace regraft::rules {

/// Merges operations that became equal (same kind, attributes and operands) because a rewrite gave them the
/// same operands: the younger node's uses go to the older one, and so on with their users. Opaque nodes are
/// never merged, nor are two nodes that both make graph outputs. `values` are followed to what they became.
void merge_equal_users(graph::Graph& graph, std::vector<graph::Value>& values);

}
