#pragma once

// Internal to core/rules: reachability for the cycle checks of a whole index.

#include <span>
#include <vector>

#include "core/graph/graph.h"

namespace regraft::rules {

/// Forward reachability on one state of a graph, cut off by topological positions.
class Reach {
 public:
  /// `position`: by node, increasing along edges.
  Reach(const graph::Graph& graph, const std::vector<std::uint32_t>& position)
      : graph_(graph), position_(position), seen_(graph.id_bound(), 0) {}

  /// Whether a user of one of the values is, or leads to, one of the targets.
  bool any(std::span<const graph::Value> values, std::span<const graph::NodeId> targets);

 private:
  const graph::Graph& graph_;
  const std::vector<std::uint32_t>& position_;
  std::vector<std::uint32_t> seen_;  // the search that saw the node last
  std::vector<graph::NodeId> pending_;
  std::uint32_t search_ = 0;
};

}  // namespace regraft::rules
