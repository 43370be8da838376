// The eight real models with all shipped rules: what the property tests of small graphs say must hold there
// too.
#include <gtest/gtest.h>

#include <array>

#include "core/env/conformance.h"
#include "support/model_world.h"

namespace regraft::env {
namespace {

using regraft::testing::ModelWorld;

class Models : public ::testing::TestWithParam<const char*> {};

TEST_P(Models, ObservationsEqualFreshOnesOnAWalk) {
  const ModelWorld world(GetParam());
  const EnvironmentConformance conformance([&](const EnvOptions& options) { return world.make(options); },
                                           world.costs, {.horizon = 24});
  for (const std::uint64_t seed : {1, 2}) conformance.masks_equal_a_fresh_match(seed);
}

TEST_P(Models, Conform) {
  const ModelWorld world(GetParam());
  check_environment([&](const EnvOptions& given) { return world.make(given); }, world.costs, {.horizon = 8},
                    1);
}

TEST_P(Models, ConformWithRulesAtAllOfTheirSitesAsActions) {
  const ModelWorld world(GetParam());
  EnvOptions options{.horizon = 8};
  options.action_mode = ActionMode::all_sites;
  check_environment([&](const EnvOptions& given) { return world.make(given); }, world.costs, options, 2);
}

TEST_P(Models, ResetEqualsFreshAndEpisodesRepeat) {
  const ModelWorld world(GetParam());
  const EnvironmentConformance conformance([&](const EnvOptions& options) { return world.make(options); },
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
  EXPECT_GT(most, 4096u) << "nothing was to be given back: lengthen the walk";
  EXPECT_LT(most, 8192u);
}

class ModelNames : public ::testing::TestWithParam<const char*> {};

// What index, rewriter, cost and observations remember by ids that now belong to others would show.
TEST_P(ModelNames, EpisodesAreTheSameWhenIdsAreGivenToOthers) {
  const ModelWorld one(GetParam()), other(GetParam());
  Environment shrunk = one.make({.horizon = 30}), plain = other.make({.horizon = 30});
  graph::Tables& tables = one.start.tables();
  const graph::TablesBound first = tables.bound();
  Rng rng(8, "names");
  for (std::uint64_t episode = 0; episode < 40; ++episode) {
    shrunk.reset(episode);
    tables.shrink(first);
    EXPECT_EQ(tables.bound(), first) << "something holds names though all episodes are over";
    plain.reset(episode);
    while (!plain.done()) {
      const std::size_t candidate = EnvironmentConformance::random_candidate(plain, rng);
      ASSERT_EQ(shrunk.step_candidate(candidate).reward, plain.step_candidate(candidate).reward)
          << "episode " << episode;
      ASSERT_TRUE(shrunk.observation() == plain.observation()) << "episode " << episode;
    }
  }
  EXPECT_GT(tables.generation(), 30u);
}

TEST_P(ModelNames, OfPastEpisodesAreGivenBackOnceTheyAreMany) {
  const ModelWorld one(GetParam()), other(GetParam());
  Environment env = one.make({.horizon = 30}), plain = other.make({.horizon = 30});
  graph::Tables& tables = one.start.tables();
  const graph::TablesBound first = tables.bound();
  Rng rng(9, "names");
  for (std::uint64_t episode = 0; episode < 4; ++episode) {
    for (graph::Dim size = 0; size < 20000; ++size) {  // as if many shapes had been met
      const std::array dims{size, static_cast<graph::Dim>(episode) + 1};
      tables.intern(graph::DType::float64, dims);
    }
    env.reset(episode);
    EXPECT_EQ(tables.generation(), episode + 1);
    EXPECT_LT(tables.bound().types, first.types + 1000);
    plain.reset(episode);
    ASSERT_TRUE(env.observation() == plain.observation());
    while (!plain.done()) {
      const std::size_t candidate = EnvironmentConformance::random_candidate(plain, rng);
      env.step_candidate(candidate);
      plain.step_candidate(candidate);
      ASSERT_TRUE(env.observation() == plain.observation()) << "episode " << episode;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Some, ModelNames, ::testing::Values("inception_v3", "nasrnn", "vit_b_16"),
                         [](const auto& model) { return std::string(model.param); });

}  // namespace
}
