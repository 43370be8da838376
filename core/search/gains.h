#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/graph/graph.h"
#include "core/rules/rewrite/rewriter.h"

namespace regraft::search {

/// What rewrites of a graph gain, as they were last seen, while the graph changes. Costs are mostly sums over
/// kernels, so far from a change gains stay what they were. It is a guess: layouts and sums of weights reach
/// further than kReach edges. So who takes a rewrite looks at it again first, and who is to be sure that none
/// is left looks at all of them again. (Minoux 1978 accelerates the greedy algorithm by gains of before, too;
/// there they are bounds.)
class Gains {
 public:
  static constexpr int kReach = 4;  // edges of the graph; fusions mostly see that far
  static constexpr double kRefused = -std::numeric_limits<double>::infinity();

  /// `base`: those of the graph that this one began at; they outlive it and do not change meanwhile.
  explicit Gains(const Gains* base = nullptr) : base_(base) {}

  /// The nodes of the present graph, or some that died, were touched: what is near is not known any more.
  void touch(const graph::Graph& graph, std::span<const graph::NodeId> nodes);
  /// In us, or kRefused; nothing where it was not seen since something near was touched.
  std::optional<double> of(const rules::Match& match) const;
  void set(const rules::Match& match, double gain_us);

  /// Whether all that is known was seen on the present graph.
  bool are_certain() const { return !base_ && now_ == 0; }
  void forget();

 private:
  struct Seen {
    double gain_us = 0;
    std::uint32_t time = 0;
  };
  struct MatchHash {
    std::size_t operator()(const rules::Match& match) const;
  };
  std::uint32_t touched_at(const rules::Match& match) const;

  const Gains* base_;
  std::unordered_map<rules::Match, Seen, MatchHash> seen_;
  std::uint32_t now_ = 0;               // how often something was touched
  std::vector<std::uint32_t> touched_;  // by node, when something near was; 0: never
  std::vector<graph::NodeId> front_;    // scratch of touch
};

}
