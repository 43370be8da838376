#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/rules/rule_set.h"

namespace regraft::rules {

/// A place where a rule applies: the rule's number in its set and the matched operation nodes, root (anchor)
/// first, in the order of the rule's pattern (members of a sibling set in the canonical order of their own
/// activations, then of their roots). (rule, nodes) names a match: it is what actions and rewrite logs hold;
/// bindings of variables are recomputed from it.
struct Match {
  std::uint32_t rule = 0;
  InlineVector<graph::NodeId, 8> nodes;

  bool operator==(const Match&) const = default;
};

/// What an applied rewrite replaced, for the site check: values before and after, pairwise equal in meaning.
struct Rewrite {
  Match match;
  std::vector<graph::Value> before;  // outputs of the matched nodes that had outside uses, as they were
  std::vector<graph::Value> after;   // what stands in their place
};

/// All matches of a rule set on one graph, kept up to date while the graph is edited.
///
/// Contract (tested against a fresh full match): matches(r) is the complete list of legal matches of rule r
/// on the present graph, where complete is relative to the rule language (maximal sibling sets and their
/// canonical pairs), legal means that guards hold, types infer, and applying makes no cycle; in canonical
/// order: canonical position of the root, then of the other nodes. One thread.
///
/// Errors: making one, update() and the questions throw RuleError where a rule takes more work than any has
/// use for. Then nothing is kept of what was known: the next question begins anew, with all nodes of the
/// graph that there is by then, and throws again while the rule still does.
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

/// Carries rewrites out on one graph, one after the other, and keeps its memory in between. One thread.
class Rewriter {
 public:
  /// Both outlive it.
  Rewriter(graph::Graph& graph, const RuleSet& rules);
  ~Rewriter();
  Rewriter(Rewriter&&) noexcept;
  Rewriter& operator=(Rewriter&&) noexcept;

  /// Applies a match: adds the right-hand side (weights become weight expressions), redirects uses, removes
  /// what died, and merges operations that became equal thereby. The graph is unchanged when it throws
  /// RuleError (the match is no longer there, or is not legal). What it returns is valid until the next call.
  const Rewrite& apply(const Match& match);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A single rewrite.
Rewrite apply(graph::Graph& graph, const RuleSet& rules, const Match& match);

}  // namespace regraft::rules
