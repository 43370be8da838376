#pragma once

#include "core/graph/graph.h"

namespace regraft::graph {

/// Whether a node hands its operand on as it is: Identity, and Cast to the type that is there.
bool is_copy(const Graph& graph, const Node& node);

/// Takes such nodes out, and known operations that repeat another on the same operands, as runtimes do before
/// they fuse. A value that the graph gives out keeps its node. All other ids stay.
void drop_copies(Graph& graph);

}
