#pragma once

// Internal to core/rules: reachability for cycle checks.

#include <span>
#include <vector>

#include "core/graph/graph.h"

namespace regraft::rules {

/// Forward reachability on one state of a graph, one question at a time; dependence.h answers many at once.
class Reach {
 public:
  explicit Reach(const graph::Graph& graph) : graph_(graph), seen_(graph.id_bound(), 0) {}

  /// Whether one of the targets is one of the values, or depends on one.
  bool any(std::span<const graph::Value> values, std::span<const graph::Value> targets);

 private:
  const graph::Graph& graph_;
  std::vector<std::uint8_t> seen_;
  std::vector<graph::NodeId> pending_;
};

}  // namespace regraft::rules
