#pragma once

// Internal to core/rules: which values depend on which, for many questions at once.

#include <cstdint>
#include <span>
#include <vector>

#include "core/graph/graph.h"

namespace regraft::rules {

/// Forward reachability on one state of a graph. What is replaced is announced first (source), with what is
/// read (target); settle() then carries one bit a source along the topological order, from the first source
/// to the last target, and depends() only looks. A question that the topological positions answer needs no
/// source: a value depends on nothing that stands behind it. One thread.
class Dependence {
 public:
  explicit Dependence(const graph::Graph& graph) : graph_(graph) {}

  /// Starts anew on the present state. `order` is topological, `position` the place of each node in it, 0 for
  /// weights, which depend on nothing and are not in it; both outlive the questions.
  void begin(std::span<const graph::NodeId> order, const std::vector<std::uint32_t>& position);
  /// Whether a target stands behind a value, so that it might depend on it.
  bool might(std::span<const graph::Value> values, std::span<const graph::Value> targets) const;
  void announce(std::span<const graph::Value> values, std::span<const graph::Value> targets);
  void settle();
  /// Whether one of the targets is one of the values, or depends on one. Both were announced.
  bool depends(std::span<const graph::Value> values, std::span<const graph::Value> targets) const;

 private:
  const std::uint64_t* row(graph::NodeId node) const;
  std::uint32_t bit_of(graph::Value value) const;

  const graph::Graph& graph_;
  std::span<const graph::NodeId> order_;
  const std::vector<std::uint32_t>* position_ = nullptr;
  std::vector<graph::Value> sources_;  // by bit
  std::vector<std::uint32_t> first_;   // by node: its first bit, or kNone
  std::vector<std::uint32_t> next_;    // by bit: the next of its node, or kNone
  std::vector<std::uint64_t> rows_;    // from position begin_ to end_, words_ each
  std::uint32_t begin_ = 0, end_ = 0;
  std::size_t words_ = 0;
};

}
