#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "core/cost/cost.h"
#include "core/graph/graph.h"
#include "core/rules/match/match_index.h"
#include "core/rules/rewrite/rewriter.h"

namespace regraft::env {

/// A graph that is rewritten, with its match index and its cost: what environments and searches work on.
///
/// Data flow: apply() and rewind_to() edit the graph through its edit log and remember which nodes they
/// touched. cost() and index() pass those on before they answer, so a walk pays only for what it asks. peek()
/// makes one rewrite and takes it back; the match index does not see it. Node ids are those of the start
/// graph. So a sequence of matches that was applied here applies to any copy of the start graph with the same
/// ids.
///
/// Owns a copy of the start graph (with an empty edit log); shares its Tables. Rules, and the start graph's
/// Tables, outlive it. One thread. Movable, not copyable: clone() makes another one.
class RewriteState {
 public:
  RewriteState(const graph::Graph& start, const rules::RuleSet& rules, const cost::CostFactory& costs);

  const graph::Graph& graph() const { return *graph_; }
  const rules::RuleSet& rules() const { return *rules_; }

  /// The rewrites applied since the start, oldest first.
  std::span<const rules::Match> path() const { return path_; }
  std::size_t depth() const { return path_.size(); }

  /// The cost of the present graph.
  const cost::Cost& cost() { return cost_model().cost(); }
  cost::CostModel& cost_model();
  const rules::MatchIndex& index();

  /// Applies a match of the present graph. Throws RuleError, and changes nothing, where it does not apply.
  void apply(const rules::Match& match);

  /// The nodes that the rewrites behind `depth` touched, dead ones too. Valid until the state is asked to
  /// change.
  std::span<const graph::NodeId> touched_since(std::size_t depth);

  /// Takes back the last rewrites until `depth` of them are left.
  void rewind_to(std::size_t depth);

  /// Applies `match`, calls look(graph, cost model) on the outcome and takes the rewrite back. Whoever only
  /// compares asks the model for its latency, which takes no pass over the graph. Throws as apply() does.
  template <typename Look>
  void peek(const rules::Match& match, Look&& look);

  /// The latency after `match`. Throws as apply() does.
  double peek_latency_us(const rules::Match& match);

  /// Gives back what was added to the Tables since this state was made (constants, types, operations...) and
  /// no graph holds any more, once that is much. For states that walk long. Whoever shares the Tables may
  /// hold such ids only in graphs. A graph with an edit log holds all that was added before its last edit.
  /// This state goes back to its start and comes again for it; all other states that share the Tables must be
  /// at their start. References into index() are void then; copies of matches stay good.
  void forget_the_past();

  /// An independent state at the same place. It can rewind as far as this one can.
  RewriteState clone() const;

 private:
  /// To be passed on to costs and index: what changed since then.
  void touch_since(graph::Graph::Mark mark);

  /// One rewrite that is taken back however the scope is left.
  class Trial {
   public:
    Trial(RewriteState& state, const rules::Match& match);
    ~Trial();
    Trial(const Trial&) = delete;
    Trial& operator=(const Trial&) = delete;

   private:
    RewriteState& state_;
    graph::Graph::Mark mark_;
    std::vector<graph::NodeId> touched_;  // the state's, with its memory, while the trial lasts
  };

  RewriteState(std::unique_ptr<graph::Graph> graph, const rules::RuleSet& rules,
               const cost::CostFactory& costs);

  std::unique_ptr<graph::Graph> graph_;  // on the heap: index and cost model point at it
  const rules::RuleSet* rules_;
  const cost::CostFactory* costs_;
  std::unique_ptr<cost::CostModel> cost_;
  rules::MatchIndex index_;
  rules::Rewriter rewriter_;
  std::vector<graph::NodeId> cost_stale_, index_stale_;  // touched since each last heard of the graph
  std::vector<graph::NodeId> touched_;                   // by one rewrite; kept for its memory
  graph::TablesBound first_;                             // of the Tables, when it was made
  std::size_t forget_at_;                                // names behind first_ that are much
  std::vector<rules::Match> path_;
  std::vector<graph::Graph::Mark> marks_;  // [depth], before each rewrite of path_
};

template <typename Look>
void RewriteState::peek(const rules::Match& match, Look&& look) {
  const Trial trial(*this, match);
  look(static_cast<const graph::Graph&>(*graph_), cost_model());
}

/// Whether latency `a_us` is below `b_us` by more than the rounding of sums: by a billionth of `b_us`.
bool cheaper(double a_us, double b_us);
bool cheaper(const cost::Cost& a, const cost::Cost& b);

/// A copy of `start` after the rewrites of `path`. Throws RuleError where one does not apply.
graph::Graph replay(const graph::Graph& start, const rules::RuleSet& rules,
                    std::span<const rules::Match> path);

}
