#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/cost/fused_patterns.h"
#include "core/graph/graph.h"
#include "core/rules/match/match_programs.h"
#include "core/rules/match/matcher.h"

namespace regraft::cost {

/// A place where a pattern lies, all that it computes but its root being used there alone.
struct FusedMatch {
  std::uint32_t pattern = 0;
  graph::Value over;                      // what the kernel goes over
  InlineVector<graph::NodeId, 12> nodes;  // the root first

  graph::NodeId root() const { return nodes[0]; }
  bool has(graph::NodeId node) const;
  bool operator==(const FusedMatch&) const = default;
};

/// The matches of a runtime's patterns on one graph, kept while it is edited. Of several around a node the
/// one of the first pattern counts, of one pattern the one with the first root. One thread.
class FusedMatches {
 public:
  /// Both outlive it. Without patterns there are no matches.
  FusedMatches(const FusedPatterns* patterns, const graph::Graph& graph);

  /// Looks anew for matches that an edit of these nodes may change, dead ones among them: their roots are as
  /// far below as a pattern reaches. Appends the live nodes of matches that came or went.
  void update(std::span<const graph::NodeId> touched, std::vector<graph::NodeId>& changed);
  /// The match that a node is part of; null: none. Valid until the next update.
  const FusedMatch* around(graph::NodeId node) const;
  const FusedPatterns::Kernel& kernel(const FusedMatch& match) const {
    return patterns_->kernel(match.pattern);
  }

 private:
  using Number = std::uint32_t;
  static constexpr Number kNone = ~Number{0};

  void walk_below(std::span<const graph::NodeId> touched);
  /// Whether a pattern lies at a root; `found_` is where.
  bool find(graph::NodeId root);
  bool is_alone(std::span<const graph::NodeId> nodes) const;
  void enter(graph::NodeId root);
  void leave(graph::NodeId root, std::vector<graph::NodeId>& changed);

  const FusedPatterns* patterns_;
  const graph::Graph& graph_;
  rules::KindSet roots_;                        // kinds of roots
  std::uint32_t depth_ = 0;                     // edges from a root to the farthest node that counts
  std::vector<rules::MatchPrograms> programs_;  // one, or none without patterns
  std::vector<rules::Matcher> matchers_;        // by pattern
  std::vector<FusedMatch> matches_;
  std::vector<Number> spare_;                                 // places in matches_ to be used again
  std::vector<Number> at_root_;                               // by node: its match in matches_
  std::vector<InlineVector<graph::NodeId, 2>> roots_around_;  // by node
  // Scratch.
  FusedMatch found_;
  std::vector<graph::NodeId> below_;
  std::vector<std::uint32_t> distance_;  // by node, all kNone between calls
};

}
