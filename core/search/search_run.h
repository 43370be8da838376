#pragma once

#include <span>
#include <string>

#include "core/env/rewrite_state.h"
#include "core/rules/lang/rule_error.h"
#include "core/search/search.h"
#include "core/search/visited_graphs.h"

namespace regraft::search {

/// The state of one run of a search: limits, counters, the table of visited graphs and the best graph so far.
/// Every search keeps them here, so that all count alike, and none grows without bound: graphs are remembered
/// in VisitedGraphs, and at each expansion the state forgets what it named for rewrites that it took back.
class SearchRun {
 public:
  SearchRun(std::string name, const SearchLimits& limits, const SearchContext& context,
            env::RewriteState& state);

  /// What a part of the search counts that another thread does from the present place: nothing yet, within
  /// what is left of the limits. `context` and `state` outlive it.
  SearchRun part(const SearchContext& context, env::RewriteState& state) const;
  /// Whether the limits of expansions and candidates leave room for what the part counted.
  bool has_room_for(const SearchRun& part) const;
  /// Counts what the part did, as if it had been done here.
  void absorb(SearchRun part);

  /// Whether one more expansion is within the limits; if so, counts and reports it. Matches of the state's
  /// index that were held before are void.
  bool begin_expansion();
  /// Whether time is left and nobody asked to stop: for the inside of a long expansion.
  bool goes_on();

  /// Whether the limit of candidates is reached.
  bool costs_no_more() const { return result_.candidates_costed >= limits_.candidates; }

  /// Looks at the graph after `match` and counts it: look(graph, cost model). False where the rewriter
  /// refuses the match, or the limit of candidates is reached.
  template <typename Look>
  bool try_match(env::RewriteState& state, const rules::Match& match, Look&& look);
  /// Counts the graph that move() goes to. False where the rewriter refuses it or the limit is reached.
  template <typename Move>
  bool try_move(Move&& move);
  /// The same of a match that earlier rewrites may have taken away: that it is refused is no bug then.
  template <typename Move>
  bool try_held(Move&& move);

  /// Remembers a graph; false where it was known.
  bool visit(const Hash128& hash) { return visited_.insert(hash); }
  bool knows(const Hash128& hash) const { return visited_.contains(hash); }

  /// Takes the graph at `path`, then `last` if any, for the best where it is cheaper.
  void offer(cost::CostModel& cost, std::span<const rules::Match> path, const rules::Match* last = nullptr);
  const cost::Cost& best() const { return result_.best; }
  const cost::Cost& initial() const { return result_.initial; }

  SearchResult finish();

 private:
  struct Part {};
  SearchRun(Part, const SearchRun& whole, const SearchContext& context, env::RewriteState& state);
  template <typename Move, typename Refuse>
  bool attempt(Move&& move, Refuse&& refused);
  double elapsed_seconds() const;
  void report() const;
  void refuse(const rules::RuleError& error);

  std::string name_;
  SearchLimits limits_;
  const SearchContext& context_;
  std::int64_t start_ns_;
  env::RewriteState& state_;
  VisitedGraphs visited_;
  SearchResult result_;
};

template <typename Look>
bool SearchRun::try_match(env::RewriteState& state, const rules::Match& match, Look&& look) {
  return try_move([&] { state.peek(match, look); });
}

template <typename Move>
bool SearchRun::try_move(Move&& move) {
  return attempt(move, [&](const rules::RuleError& error) { refuse(error); });
}

template <typename Move>
bool SearchRun::try_held(Move&& move) {
  return attempt(move, [](const rules::RuleError&) {});
}

template <typename Move, typename Refuse>
bool SearchRun::attempt(Move&& move, Refuse&& refused) {
  if (costs_no_more()) return false;
  try {
    move();
  } catch (const rules::RuleError& error) {
    refused(error);
    return false;
  }
  ++result_.candidates_costed;
  return true;
}

}
