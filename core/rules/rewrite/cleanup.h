#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/rules/set/rule_set.h"

namespace regraft::rules {

/// The clean-up passes: rewrites that need no search, made before one, and logged like any other.
enum class CleanupPass : std::uint8_t {
  dead,      // nodes without use
  fold,      // an operation on constants, or the Shape of a static type, becomes a constant
  operands,  // an operand that is constant, or might be, moves into an attribute
  no_op,     // what gives a value that exists: Identity, x * 1, Neg(Neg(x)), a Reshape to the same shape...
  cast,      // two Casts that lose nothing become one
  rule,      // a rule of the family kCleanUpFamily, where it leaves fewer operations
  common,    // an operation that another node computes already
};

/// One clean-up rewrite: the node that went.
struct CleanupStep {
  CleanupPass pass;
  graph::NodeId node;
  std::string name;      // in logs: "clean-up:no-op", of a rule "clean-up:reshape-reshape"
  graph::Value by = {};  // what its first output became; absent where a rule or nothing came in its place

  bool operator==(const CleanupStep&) const = default;
};

/// Folding may make a constant at most this much larger than the constants it is made of, and any constant of
/// up to 4096 elements. Expand and Tile stay in the graph where they would blow it up.
inline constexpr std::int64_t kFoldGrowth = 2;

/// Runs all passes to their common fixed point: first what is dead goes, then the graph is walked in
/// topological order, and what a step may open is looked at again. A step takes time in proportion to the
/// uses that it changes, so that the whole is linear in the graph. Nothing is estimated: each step is exact
/// to the bit, except for constants, which are folded as the runtime would. Deterministic: equal graphs and
/// rules give equal steps and equal node ids, so a log is replayed by running it again. Opaque nodes are
/// never touched or merged, but for a Slice of known integers (graph::known_slice). With a limit, only the
/// first so many steps, which are those that the whole run begins with.
std::vector<CleanupStep> clean_up(graph::Graph& graph, const RuleSet& rules, std::size_t limit = SIZE_MAX);
/// The same without rules.
std::vector<CleanupStep> clean_up(graph::Graph& graph, std::size_t limit = SIZE_MAX);
/// What ONNX Runtime itself does of that before it fuses, and float x + 0: shapes that are computed stay so.
std::vector<CleanupStep> clean_up_as_runtimes(graph::Graph& graph);

}
