#pragma once

#include <memory>
#include <vector>

#include "core/graph/graph.h"
#include "core/rules/match/match.h"
#include "core/rules/set/rule_set.h"

namespace regraft::rules {

/// What an applied rewrite replaced, for the site check: values before and after, pairwise equal in meaning.
struct Rewrite {
  Match match;
  std::vector<graph::Value> before;  // outputs of the matched nodes that had outside uses, as they were
  std::vector<graph::Value> after;   // what stands in their place
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

}
