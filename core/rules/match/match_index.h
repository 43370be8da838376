#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/graph/graph.h"
#include "core/rules/match/match.h"
#include "core/rules/set/rule_set.h"

namespace regraft::rules {

/// All matches of a rule set on one graph, kept up to date while the graph is edited.
///
/// Contract (tested against a fresh full match): matches(r) is the complete list of legal matches of rule r
/// on the present graph. Complete is relative to the rule language (maximal sibling sets and their canonical
/// pairs). Legal means that guards hold, types infer, and applying makes no cycle. The order is canonical:
/// position of the root, then of the other nodes. One thread.
///
/// Errors: the constructor, update() and the questions throw RuleError where a rule takes too much work. Then
/// nothing is kept: the next question begins anew, with all nodes of the graph of that time, and throws again
/// while the rule still takes too much.
class MatchIndex {
 public:
  MatchIndex(const RuleSet& rules, const graph::Graph& graph);
  ~MatchIndex();
  MatchIndex(MatchIndex&&) noexcept;
  MatchIndex& operator=(MatchIndex&&) noexcept;

  /// Call after edits or undo with graph.touched_since(mark).
  void update(std::span<const graph::NodeId> touched);
  std::span<const Match> matches(std::uint32_t rule) const;
  std::size_t match_count() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}
