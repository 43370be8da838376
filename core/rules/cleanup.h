#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"

namespace regraft::rules {

/// The clean-up passes: rewrites that need no search, made before one, and logged like any other.
enum class CleanupPass : std::uint8_t {
  fold,      // an operation on constants, or the Shape of a static type, becomes a constant
  operands,  // an operand that became constant moves into an attribute
  no_op,     // Identity, a Reshape to the same shape, a Transpose in place, a Cast to the same type...
  common,    // an operation that another node computes already
  dead,      // nodes without use
};
std::string_view name_of(CleanupPass pass);

/// One clean-up rewrite: the node that went.
struct CleanupStep {
  CleanupPass pass;
  graph::NodeId node;

  bool operator==(const CleanupStep&) const = default;
};

/// Folding may make a constant at most this much larger than the constants it is made of, and any constant of
/// up to 4096 elements: Expand and Tile stay in the graph where they would blow it up.
inline constexpr std::int64_t kFoldGrowth = 2;

/// Runs all passes to their common fixed point in one walk over the graph in topological order.
/// Deterministic: equal graphs give equal steps and equal node ids, so a log is replayed by running it again.
/// Opaque nodes are never touched or merged. With a limit, only the first so many steps, which are those that
/// the whole run begins with: nodes that are dead then stay.
std::vector<CleanupStep> clean_up(graph::Graph& graph, std::size_t limit = SIZE_MAX);

}  // namespace regraft::rules
