#include "core/search/all_sites_descent.h"

#include <vector>

#include "core/graph/order.h"
#include "core/search/all_sites_moves.h"
#include "core/search/descent.h"
#include "core/search/take_action.h"

namespace regraft::search {
namespace {

/// Sites of each rule.
std::vector<std::size_t> site_counts(env::RewriteState& state) {
  std::vector<std::size_t> counts;
  const rules::MatchIndex& index = state.index();
  for (std::uint32_t rule = 0; rule < state.rules().size(); ++rule)
    counts.push_back(index.matches(rule).size());
  return counts;
}

/// Rules with more sites than there were.
std::vector<std::uint32_t> rules_with_more(env::RewriteState& state, const std::vector<std::size_t>& than) {
  const std::vector<std::size_t> counts = site_counts(state);
  std::vector<std::uint32_t> out;
  for (std::uint32_t rule = 0; rule < counts.size(); ++rule)
    if (counts[rule] > than[rule]) out.push_back(rule);
  return out;
}

class AllSitesDescent : public Search {
 public:
  std::string name() const override { return "all_sites_descent"; }

  SearchResult run(const SearchProblem& problem, const SearchLimits& limits, Rng&,
                   const SearchContext& context) override {
    env::RewriteState state(problem.start, problem.rules, problem.costs);
    SearchRun run(name(), limits, context, state);
    while (descend(run, state) && (take_cheapest(run, state) || take_before_descent(run, state) ||
                                   take_two_before_descent(run, state))) {
    }
    return run.finish();
  }

 private:
  static bool take(SearchRun& run, env::RewriteState& state, const Move& move) {
    if (!take_move(state, move, [&](std::uint32_t rule) { return take_all_sites(run, state, rule); }))
      return false;
    run.visit(graph::structural_hash(state.graph()));
    return true;
  }

  static bool take_cheapest(SearchRun& run, env::RewriteState& state) {
    if (!run.begin_expansion()) return false;
    const std::size_t bottom = state.depth();
    double least_us = state.cost_model().latency_us();
    std::vector<rules::Match> cheapest;
    for (const Move& move : matching_moves(state)) {
      if (!take(run, state, move)) continue;
      const double latency_us = state.cost_model().latency_us();
      if (env::cheaper(latency_us, least_us)) {
        least_us = latency_us;
        const auto steps = state.path().subspan(bottom);
        cheapest.assign(steps.begin(), steps.end());
      }
      state.rewind_to(bottom);
    }
    for (const rules::Match& match : cheapest) state.apply(match);
    run.offer(state.cost_model(), state.path());
    return !cheapest.empty();
  }

  static bool take_before_descent(SearchRun& run, env::RewriteState& state) {
    const double before_us = state.cost_model().latency_us();
    for (const Move& move : matching_moves(state))
      if (take_and_descend(run, state, move, before_us)) return true;
    return false;
  }

  /// The first rule makes sites for the second.
  static bool take_two_before_descent(SearchRun& run, env::RewriteState& state) {
    const std::size_t bottom = state.depth();
    const double before_us = state.cost_model().latency_us();
    const std::vector<std::size_t> sites = site_counts(state);
    for (const Move& first : matching_moves(state)) {
      if (!run.goes_on()) return false;
      if (!take(run, state, first)) continue;
      for (const std::uint32_t second : rules_with_more(state, sites))
        if (take_and_descend(run, state, {second}, before_us)) return true;
      state.rewind_to(bottom);
    }
    return false;
  }

  /// Whether that leads below `before_us`; else the state is as it was.
  static bool take_and_descend(SearchRun& run, env::RewriteState& state, const Move& move, double before_us) {
    const std::size_t bottom = state.depth();
    if (!run.goes_on() || !take(run, state, move)) return false;
    descend(run, state);
    if (env::cheaper(state.cost_model().latency_us(), before_us)) return true;
    state.rewind_to(bottom);
    return false;
  }
};

}  // namespace

std::unique_ptr<Search> make_all_sites_descent() {
  return std::make_unique<AllSitesDescent>();
}

}  // namespace regraft::search
