#include "core/search/all_sites_descent.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/graph/order.h"
#include "core/search/all_sites_moves.h"
#include "core/search/descent.h"
#include "core/search/scouts.h"
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

/// Rules with more sites than there were; of a family that is taken together the first.
std::vector<std::uint32_t> rules_with_more(env::RewriteState& state, const std::vector<std::size_t>& than) {
  const std::vector<std::size_t> counts = site_counts(state);
  std::vector<std::uint32_t> out;
  for (std::uint32_t rule = 0; rule < counts.size(); ++rule)
    if (counts[rule] > than[rule]) out.push_back(rule);
  return without_families(state.rules(), std::move(out));
}

class Descent {
 public:
  Descent(const SearchProblem& problem, const SearchLimits& limits, const SearchContext& context,
          const std::string& name)
      : state_(problem.start, problem.rules, problem.costs),
        run_(name, limits, context, state_),
        scouts_(problem, context) {}

  SearchResult run() {
    bool goes_on = descend(run_, state_, gains_);
    if (goes_on) descend_by_families();
    while (goes_on) {
      bottom_ = state_.depth();
      bottom_us_ = state_.cost_model().latency_us();
      if (!take_cheapest() && !take_before_descent() && !take_two_before_descent()) break;
      gains_.touch(state_.graph(), state_.touched_since(bottom_));
      goes_on = descend(run_, state_, gains_);
    }
    return run_.finish();
  }

 private:
  /// Begins again by each family that is taken together and gains by itself, and stays where that leads
  /// lower: a descent may change what such a family matches (the products of recurrent cells) before it is
  /// taken.
  void descend_by_families() {
    const auto here = [&] {
      const auto path = state_.path();
      return std::vector<rules::Match>(path.begin(), path.end());
    };
    std::vector<rules::Match> lowest = here();
    double lowest_us = state_.cost_model().latency_us();
    state_.rewind_to(0);
    const double start_us = state_.cost_model().latency_us();
    for (const std::uint32_t rule : matching_rules(state_)) {
      if (state_.rules().together_with(rule).size() == 1) continue;
      if (!run_.begin_expansion()) break;
      if (!take(run_, state_, rule)) continue;
      Gains gains;
      if (env::cheaper(state_.cost_model().latency_us(), start_us)) descend(run_, state_, gains);
      if (env::cheaper(state_.cost_model().latency_us(), lowest_us)) {
        lowest = here();
        lowest_us = state_.cost_model().latency_us();
        gains_ = std::move(gains);
      }
      state_.rewind_to(0);
    }
    for (const rules::Match& match : lowest) state_.apply(match);
    run_.offer(state_.cost_model(), state_.path());
  }

  static bool take(SearchRun& run, env::RewriteState& state, std::uint32_t rule) {
    if (!take_all_sites(run, state, rule)) return false;
    run.visit(graph::structural_hash(state.graph()));
    return true;
  }

  bool take_cheapest() {
    if (!run_.begin_expansion()) return false;
    double least_us = bottom_us_;
    std::vector<rules::Match> cheapest;
    for (const std::uint32_t rule : matching_rules(state_)) {
      if (!take(run_, state_, rule)) continue;
      const double latency_us = state_.cost_model().latency_us();
      if (env::cheaper(latency_us, least_us)) {
        least_us = latency_us;
        const auto steps = state_.path().subspan(bottom_);
        cheapest.assign(steps.begin(), steps.end());
      }
      state_.rewind_to(bottom_);
    }
    for (const rules::Match& match : cheapest) state_.apply(match);
    run_.offer(state_.cost_model(), state_.path());
    return !cheapest.empty();
  }

  bool take_before_descent() {
    const std::vector<std::uint32_t> rules = matching_rules(state_);
    return scouts_.any_of(run_, state_, rules.size(),
                          [&](SearchRun& run, env::RewriteState& state, std::size_t at) {
                            return take_and_descend(run, state, rules[at]);
                          });
  }

  /// The first rule makes sites for the second.
  bool take_two_before_descent() {
    const std::vector<std::size_t> sites = site_counts(state_);
    const std::vector<std::uint32_t> rules = matching_rules(state_);
    return scouts_.any_of(run_, state_, rules.size(),
                          [&](SearchRun& run, env::RewriteState& state, std::size_t at) {
                            if (!run.goes_on() || !take(run, state, rules[at])) return false;
                            for (const std::uint32_t second : rules_with_more(state, sites))
                              if (take_and_descend(run, state, second)) return true;
                            state.rewind_to(bottom_);
                            return false;
                          });
  }

  /// Whether that leads below the bottom; else the state is as it was.
  bool take_and_descend(SearchRun& run, env::RewriteState& state, std::uint32_t rule) const {
    const std::size_t depth = state.depth();
    if (!run.goes_on() || !take(run, state, rule)) return false;
    Gains behind(state.cost_model().is_sum() ? &gains_ : nullptr);
    behind.touch(state.graph(), state.touched_since(bottom_));
    descend(run, state, behind, LocalMinimum::known);
    if (env::cheaper(state.cost_model().latency_us(), bottom_us_)) return true;
    state.rewind_to(depth);
    return false;
  }

  env::RewriteState state_;
  SearchRun run_;
  Scouts scouts_;
  Gains gains_;             // of the graph at the bottom
  std::size_t bottom_ = 0;  // depth of the last graph that descend() ended at
  double bottom_us_ = 0;
};

class AllSitesDescent : public Search {
 public:
  std::string name() const override { return "all_sites_descent"; }

  SearchResult run(const SearchProblem& problem, const SearchLimits& limits, Rng&,
                   const SearchContext& context) override {
    return Descent(problem, limits, context, name()).run();
  }
};

}  // namespace

std::unique_ptr<Search> make_all_sites_descent() {
  return std::make_unique<AllSitesDescent>();
}

}
