#include "core/search/rollouts.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/env/observation_writer.h"
#include "core/graph/order.h"
#include "core/search/search_run.h"
#include "core/search/take_action.h"

namespace regraft::search {
namespace {

std::size_t most_probable(const std::vector<float>& log_probabilities) {
  return static_cast<std::size_t>(std::max_element(log_probabilities.begin(), log_probabilities.end()) -
                                  log_probabilities.begin());
}

std::size_t sample(const std::vector<float>& log_probabilities, Rng& rng) {
  double left = rng.uniform();
  for (std::size_t row = 0; row < log_probabilities.size(); ++row) {
    left -= std::exp(static_cast<double>(log_probabilities[row]));
    if (left < 0) return row;
  }
  return most_probable(log_probabilities);  // rounding: they summed to a little less than 1
}

class Rollouts : public Search {
 public:
  Rollouts(std::string name, Prior& prior, RolloutOptions options)
      : name_(std::move(name)), prior_(prior), options_(std::move(options)) {}
  std::string name() const override { return name_; }

  SearchResult run(const SearchProblem& problem, const SearchLimits& limits, Rng& rng,
                   const SearchContext& context) override {
    env::RewriteState state(problem.start, problem.rules, problem.costs);
    env::ObservationWriter writer(problem.start.tables(), options_.observation.bindings);
    SearchRun run(name_, limits, context, state);
    bool goes_on = state.index().match_count() > 0;
    for (std::uint64_t i = 0; goes_on && (options_.rollouts == 0 || i < options_.rollouts); ++i) {
      state.rewind_to(0);
      goes_on = rollout(run, state, writer, options_.greedy_first && i == 0 ? nullptr : &rng);
    }
    return run.finish();  // a run that no limit ended counts as exhausted
  }

 private:
  /// One episode; without a generator the most probable candidates. False where the limits ended it.
  bool rollout(SearchRun& run, env::RewriteState& state, env::ObservationWriter& writer, Rng* rng) {
    const ObservationOptions& seen = options_.observation;
    History history;
    for (std::uint32_t step = 0; step < seen.horizon; ++step) {
      if (!run.begin_expansion()) return false;
      writer.write(state, {run.initial(), step, seen.horizon, seen.location_limit, seen.action_mode},
                   observation_);
      const std::vector<float> log_probabilities = ask(prior_, observation_, history);
      const std::size_t row = rng ? sample(log_probabilities, *rng) : most_probable(log_probabilities);
      if (row + 1 >= observation_.candidate_count()) return true;  // NO-OP
      history.action = {observation_.candidate_rules[row], observation_.candidate_locations[row]};
      if (!take_action(run, state, observation_, *history.action)) return true;
      run.visit(graph::structural_hash(state.graph()));
      run.offer(state.cost_model(), state.path());
    }
    return true;
  }

  std::string name_;
  Prior& prior_;
  RolloutOptions options_;
  env::Observation observation_;
};

/// Owns the prior that its rollouts use.
class RandomRollouts : public Search {
 public:
  RandomRollouts(RolloutOptions options, double noop_probability)
      : prior_(noop_probability), rollouts_("random", prior_, std::move(options)) {}
  std::string name() const override { return rollouts_.name(); }
  SearchResult run(const SearchProblem& problem, const SearchLimits& limits, Rng& rng,
                   const SearchContext& context) override {
    return rollouts_.run(problem, limits, rng, context);
  }

 private:
  UniformPrior prior_;
  Rollouts rollouts_;
};

}  // namespace

std::unique_ptr<Search> make_rollouts(Prior& prior, RolloutOptions options) {
  return std::make_unique<Rollouts>("rollouts:" + prior.name(), prior, std::move(options));
}

std::unique_ptr<Search> make_random_rollouts(RolloutOptions options, double noop_probability) {
  options.greedy_first = false;
  return std::make_unique<RandomRollouts>(std::move(options), noop_probability);
}

}
