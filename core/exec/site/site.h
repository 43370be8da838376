#pragma once

// Internal to core/exec: the nodes that one rewrite concerns.

#include <cstdint>
#include <set>
#include <span>

#include "core/graph/graph.h"

namespace regraft::exec {

/// The two sides of a rewrite, and the values that both start from.
struct Site {
  std::set<graph::NodeId> left;  // matched nodes, in the graph before
  std::set<graph::NodeId>
      right;  // nodes that the rewrite made and the replacing values need, in the graph after
  std::set<graph::Value> leaves;  // outer inputs of both sides, not constants, in both graphs: free values
  std::set<graph::Value>
      shared;  // what the right side takes that is computed, in the graph before, from left or leaves
};

/// Finds the sides from the matched nodes and from what now stands in place of the replaced values. The right
/// side may use nodes that the graph had already: matched ones, or ones that compute from the leaves. These
/// are shared. What depends on no leaf of the left side is a leaf itself. With Leaves::related, a leaf that
/// the old graph computes from others is shared too, and not a free value. The rewrite may have found that
/// what it wanted to make of one leaf is another one. Throws ExecError when a node is not in its graph.
enum class Leaves : std::uint8_t { independent, related };
Site find_site(const graph::Graph& before, const graph::Graph& after, std::span<const graph::NodeId> matched,
               std::span<const graph::Value> replacing, Leaves leaves = Leaves::independent);

}
