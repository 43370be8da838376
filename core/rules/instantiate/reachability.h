#pragma once

// Internal to core/rules: reachability for cycle checks.

#include <span>
#include <vector>

#include "core/graph/graph.h"

namespace regraft::rules {

/// Forward reachability, one question at a time; dependence.h answers many of one state of a graph at once.
/// Keeps its memory.
class Reachability {
 public:
  /// Whether one of the targets is one of the values, or depends on one.
  bool any(const graph::Graph& graph, std::span<const graph::Value> values,
           std::span<const graph::Value> targets);

 private:
  std::vector<std::uint32_t> seen_;  // by node: the question that came here last
  std::uint32_t question_ = 0;
  std::vector<graph::NodeId> pending_;
};

}
