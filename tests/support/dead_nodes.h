#pragma once

#include <numeric>
#include <vector>

#include "core/graph/graph.h"

namespace regraft::graph {

/// Removes all nodes that no output needs. Graph inputs stay.
inline void remove_all_dead(Graph& graph) {
  std::vector<NodeId> all(graph.id_bound());
  std::iota(all.begin(), all.end(), NodeId{0});
  graph.remove_dead(all);
}

}
