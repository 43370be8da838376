// The eight real models with all shipped rules: what the property tests of small graphs say must hold there
// too.
#include <gtest/gtest.h>

#include "core/env/conformance.h"
#include "support/model_world.h"

namespace regraft::env {
namespace {

using regraft::testing::ModelWorld;

class Models : public ::testing::TestWithParam<const char*> {};

TEST_P(Models, ObservationsEqualFreshOnesOnAWalk) {
  const ModelWorld world(GetParam());
  const EnvironmentConformance conformance([&](EnvOptions options) { return world.make(options); },
                                           world.costs, {.horizon = 24});
  for (const std::uint64_t seed : {1, 2}) conformance.masks_equal_a_fresh_match(seed);
}

TEST_P(Models, ResetEqualsFreshAndEpisodesRepeat) {
  const ModelWorld world(GetParam());
  const EnvironmentConformance conformance([&](EnvOptions options) { return world.make(options); },
                                           world.costs, {.horizon = 40});
  conformance.reset_equals_fresh(3);
  conformance.equal_actions_give_equal_episodes(4);
}

// Rollouts are replayed by other processes, which have played other episodes before.
TEST_P(Models, AnEpisodeIsTheSameWhateverWasPlayedBefore) {
  const ModelWorld one(GetParam()), other(GetParam());
  Environment actor = one.make({.horizon = 50}), learner = other.make({.horizon = 50});
  constexpr std::uint64_t kEpisodes = 60, kReplayed = 3;  // one in so many
  Rng rng(6, "rollouts");
  for (std::uint64_t episode = 0; episode < kEpisodes; ++episode) {
    std::vector<std::size_t> actions;
    std::vector<double> rewards;
    actor.reset(episode);
    while (!actor.done()) {
      actions.push_back(EnvironmentConformance::random_candidate(actor, rng));
      rewards.push_back(actor.step_candidate(actions.back()).reward);
    }
    if (episode % kReplayed != 0) continue;
    learner.reset(episode);
    for (std::size_t t = 0; t < actions.size(); ++t)
      ASSERT_EQ(learner.step_candidate(actions[t]).reward, rewards[t])
          << "episode " << episode << " step " << t;
    ASSERT_TRUE(learner.observation() == actor.observation()) << "episode " << episode;
  }
}

INSTANTIATE_TEST_SUITE_P(Each, Models,
                         ::testing::Values("bert_base", "inception_v3", "nasrnn", "resnet18", "resnet50",
                                           "resnext50_32x4d", "squeezenet1_1", "vit_b_16"),
                         [](const auto& model) { return std::string(model.param); });

// NasRNN makes constants without end (concatenations of its weights in all orders).
TEST(ModelMemory, ConstantsOfPastEpisodesAreGivenBack) {
  const ModelWorld world("nasrnn");
  Environment env = world.make({.horizon = 50});
  const std::size_t start = world.start.tables().weights().size();
  Rng rng(5, "memory");
  const Observation first = env.observation();
  std::size_t most = 0;
  for (std::uint64_t episode = 0; episode < 200; ++episode) {
    ASSERT_TRUE(env.reset(episode) == first) << "episode " << episode;
    while (!env.done()) env.step_candidate(EnvironmentConformance::random_candidate(env, rng));
    most = std::max(most, world.start.tables().weights().size() - start);
  }
  EXPECT_GT(world.start.tables().weights().generation(), 0u)
      << "at most " << most << " constants: lengthen the walk";
  EXPECT_LT(most, 8192u);
}

}  // namespace
}  // namespace regraft::env
