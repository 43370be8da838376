#include <gtest/gtest.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/env/synthetic.h"
#include "core/nn/inference/latent_tracker.h"
#include "core/nn/model/world_bundle.h"
#include "launch/policy/trained_prior.h"
#include "launch/random_bundle.h"
#include "replay/dream/dream_validity.h"

namespace regraft::launch {
namespace {

constexpr std::uint32_t kHorizon = 12, kLocations = 200;

TEST(ControllerPrior, GoesOnFromWhatItRememberedOfTheGraphBefore) {
  const env::SyntheticTask task =
      env::make_synthetic_task({.chains = 5, .locked = 2, .valley = 2, .seed = 1});
  const rules::RuleSet rules = env::make_synthetic_rules(2);
  const env::TableCostFactory costs = env::make_synthetic_costs(1);
  const SystemClock clock;
  env::Environment environment(*task.start, rules, costs, {.horizon = kHorizon, .location_limit = kLocations},
                               clock);
  const nn::WorldBundle bundle = testing::random_bundle(7, rules, kHorizon, kLocations);
  TempDir folder;
  nn::save_bundle(bundle, folder.path() / "c.world");
  const TrainedPrior trained = load_trained_prior(folder.path() / "c.world", rules);
  EXPECT_EQ(trained.limits, (env::EpisodeLimits{.horizon = kHorizon, .location_limit = kLocations}));
  search::Prior& prior = *trained.prior;
  nn::Controller controller = replay::controller_of(bundle);
  nn::LatentTracker tracker(bundle.world);  // follows one episode, and is never set back
  Rng rng(1, "walk");
  double memory_matters = 0;
  for (int episode = 0; episode < 5; ++episode) {
    const env::Observation* seen = &environment.reset();
    tracker.reset(*seen);
    search::History history;
    for (;;) {
      search::History other = history, none;  // another question between two of an episode changes nothing
      const std::vector<float> answer = prior.log_probabilities(*seen, history);
      const std::vector<float> forgot = prior.log_probabilities(*seen, none);
      EXPECT_EQ(prior.log_probabilities(*seen, other), answer);
      const std::vector<float> expected = controller.log_probabilities(tracker.state(), tracker.counts());
      ASSERT_EQ(answer.size(), expected.size());
      for (std::size_t i = 0; i < answer.size(); ++i) {
        EXPECT_NEAR(answer[i], expected[i], 1e-5);
        memory_matters = std::max<double>(memory_matters, std::abs(forgot[i] - answer[i]));
      }
      if (seen->candidate_count() == 1) break;
      const std::size_t row = rng.below(seen->candidate_count() - 1);
      history.action = {seen->candidate_rules[row], seen->candidate_locations[row]};
      environment.step(*history.action);
      if (environment.done()) break;
      seen = &environment.observation();
      tracker.advance(*history.action, *seen);
    }
  }
  EXPECT_GT(memory_matters, 1e-3);
}

}  // namespace
}
