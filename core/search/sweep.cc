#include "core/search/sweep.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/search/descent.h"

namespace regraft::search {
namespace {

class Sweep : public Search {
 public:
  explicit Sweep(const SweepOptions& options) : options_(options) {}
  std::string name() const override { return "sweep"; }

  SearchResult run(const SearchProblem& problem, const SearchLimits& limits, Rng&,
                   const SearchContext& context) override {
    env::RewriteState state(problem.start, problem.rules, problem.costs);
    SearchRun run(name(), limits, context, state);
    while (descend(run, state) && (take_best_sweep(run, state) || take_deep_sweep(run, state))) {
    }
    return run.finish();
  }

 private:
  struct Place {
    double latency_us = 0;
    std::vector<rules::Match> steps;  // from the bottom that the sweep began at
  };

  /// Carries `rule` out until it matches nowhere, or only leads to graphs of this very sweep; the state stays
  /// at the end. The cheapest graph on the way that is cheaper than `least` goes there.
  void sweep(SearchRun& run, env::RewriteState& state, std::uint32_t rule, Place& least) const {
    const std::size_t bottom = state.depth();
    std::vector<Hash128> seen{state.graph().hash()};
    for (std::size_t done = 0; done < options_.most_rewrites && run.goes_on(); ++done) {
      const auto matches = state.index().matches(rule);
      if (matches.empty()) return;
      const auto fewer = [](const rules::Match& a, const rules::Match& b) {
        return a.nodes.size() < b.nodes.size();
      };
      const rules::Match match = *std::max_element(matches.begin(), matches.end(), fewer);
      if (!run.try_move([&] { state.apply(match); })) return;
      const Hash128 hash = state.graph().hash();
      if (std::find(seen.begin(), seen.end(), hash) != seen.end()) return;
      seen.push_back(hash);
      run.visit(hash);
      const double latency_us = state.cost_model().latency_us();
      if (!env::cheaper(latency_us, least.latency_us)) continue;
      least.latency_us = latency_us;
      const auto steps = state.path().subspan(bottom);
      least.steps.assign(steps.begin(), steps.end());
    }
  }

  static std::vector<std::uint32_t> matching_rules(env::RewriteState& state) {
    std::vector<std::uint32_t> out;
    const rules::MatchIndex& index = state.index();
    for (std::uint32_t rule = 0; rule < state.rules().size(); ++rule)
      if (!index.matches(rule).empty()) out.push_back(rule);
    return out;
  }

  bool take_best_sweep(SearchRun& run, env::RewriteState& state) const {
    if (!run.begin_expansion()) return false;
    const std::size_t bottom = state.depth();
    Place least{state.cost_model().latency_us(), {}};
    for (const std::uint32_t rule : matching_rules(state)) {
      sweep(run, state, rule, least);
      state.rewind_to(bottom);
    }
    for (const rules::Match& match : least.steps) state.apply(match);
    run.offer(state.cost_model(), state.path());
    return !least.steps.empty();
  }

  bool take_deep_sweep(SearchRun& run, env::RewriteState& state) const {
    const std::size_t bottom = state.depth();
    const double before_us = state.cost_model().latency_us();
    for (const std::uint32_t rule : matching_rules(state)) {
      Place unused{before_us, {}};
      sweep(run, state, rule, unused);
      descend(run, state);
      if (env::cheaper(state.cost_model().latency_us(), before_us)) return true;
      state.rewind_to(bottom);
      if (!run.goes_on()) return false;
    }
    return false;
  }

  SweepOptions options_;
};

}  // namespace

std::unique_ptr<Search> make_sweep(SweepOptions options) {
  return std::make_unique<Sweep>(options);
}

}  // namespace regraft::search
