#pragma once

// Internal to core/rules: reachability for cycle checks.

#include <span>
#include <vector>

#include "core/graph/graph.h"

namespace regraft::rules {

/// Forward reachability on one state of a graph, cut off by topological positions where they are given.
class Reach {
 public:
  explicit Reach(const graph::Graph& graph) : graph_(graph), seen_(graph.id_bound(), 0) {}
  /// `position`: by node, increasing along edges; outlives this.
  Reach(const graph::Graph& graph, const std::vector<std::uint32_t>& position)
      : graph_(graph), position_(&position), seen_(graph.id_bound(), 0) {}

  /// Whether one of the targets is one of the values, or depends on one.
  bool any(std::span<const graph::Value> values, std::span<const graph::Value> targets);

 private:
  const graph::Graph& graph_;
  const std::vector<std::uint32_t>* position_ = nullptr;
  std::vector<std::uint32_t> seen_;  // the search that saw the node last
  std::vector<graph::NodeId> pending_;
  std::uint32_t search_ = 0;
};

}  // namespace regraft::rules
