#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "learner/ppo/ppo.h"
#include "replay/rollout/replay_error.h"
#include "tests/learner/ppo/chain_world.h"

namespace regraft::learner {
namespace {

using test::ChainWorld;

PpoOptions imitating(double weight) {
  PpoOptions options;
  options.learning_rate = 3e-3;
  options.minibatch_steps = 64;
  options.imitation = weight;
  return options;
}

/// Self-imitation (PpoOptions::imitation) with either head.
class Imitation : public testing::TestWithParam<nn::Head> {
 protected:
  Imitation()
      : network_(ChainWorld::network(GetParam())),
        weights_(nn::initial_weights(network_, 3)),
        policy_(network_, weights_, ChainWorld::rules(), {.device = "cpu"}) {}

  Ppo ppo(double weight) const {
    return Ppo(network_, weights_, ChainWorld::rules(), imitating(weight), "cpu", 3);
  }
  std::vector<replay::Segment> play(std::size_t episodes) {
    return test::play(policy_, episodes, rng_, test::kFreshVersion);
  }
  /// The episode of the highest return among many, the longer of equals.
  replay::Segment best_of(std::size_t episodes) {
    return std::ranges::max(play(episodes), {}, [](const replay::Segment& s) {
      return std::pair(s.episode_return, s.steps.size());
    });
  }
  /// Sum of log pi of both decisions of all steps.
  double log_probability(const Ppo& ppo, const replay::Segment& episode) const {
    const PpoBatch batch = ppo.prepare({&episode, 1});
    double sum = 0;
    for (std::size_t t = 0; t < batch.size(); ++t) {
      sum += batch.targets.first.proximal[t];
      if (batch.targets.second_halves[t] != 0) sum += batch.targets.second.proximal[t];
    }
    return sum;
  }

  Rng rng_{5, "imitation"};
  nn::NetworkConfig network_;
  nn::Weights weights_;
  nn::Policy policy_;
};

TEST_P(Imitation, WithoutItBestEpisodesChangeNoBit) {
  const auto fresh = play(16);
  const replay::Segment best = best_of(200);
  Ppo one = ppo(0), other = ppo(0);
  EXPECT_EQ(one.update(fresh, {&best, 1}).imitated_steps, 0u);
  other.update(fresh);
  EXPECT_EQ(one.weights(), other.weights());
}

TEST_P(Imitation, AdvantagesAreWhatStepsReturnedBeyondTheirValue) {
  const auto fresh = play(16);
  const replay::Segment best = best_of(200);
  ASSERT_GT(best.episode_return, 0.5F) << "the optimum was not among them";
  const Ppo learner = ppo(0.5);
  const PpoBatch batch = learner.prepare(fresh, {&best, 1}), alone = learner.prepare(fresh);
  EXPECT_EQ(batch.size(), alone.size());
  EXPECT_EQ(batch.targets.first.advantages, alone.targets.first.advantages);
  EXPECT_EQ(alone.imitated.size(), 0u);

  const PpoBatch seen = learner.prepare({&best, 1});
  std::size_t expected = 0;
  for (std::size_t t = 0; t < best.steps.size(); ++t) {
    double following = 0;
    for (std::size_t k = t; k < best.steps.size(); ++k) following += best.steps[k].reward;
    const float value = policy_.evaluate(best.steps[t].observation).value;
    if (following <= value && seen.targets.second_halves[t] == 0) continue;
    if (expected < batch.imitated.size() &&
        batch.imitated.observations[expected] == &best.steps[t].observation) {
      const auto& targets = batch.imitated.targets;
      EXPECT_NEAR(targets.first.advantages[expected], std::max(0.0, following - value), 1e-4);
      EXPECT_EQ(targets.first.proximal[expected], seen.targets.first.proximal[t]);
      ++expected;
    } else {
      EXPECT_LE(following, value + 1e-4) << "step " << t << " is missing";
    }
  }
  EXPECT_EQ(batch.imitated.size(), expected);
  EXPECT_GT(expected, 0u);
}

TEST_P(Imitation, IsTheSameWhateverCorrectsOldData) {
  const auto fresh = play(16);
  const replay::Segment best = best_of(200);
  PpoOptions options = imitating(1);
  options.correction = Correction::v_trace;
  const Ppo learner(network_, weights_, ChainWorld::rules(), options, "cpu", 3);
  const PpoBatch found = learner.prepare(fresh, {&best, 1}), expected = ppo(1).prepare(fresh, {&best, 1});
  ASSERT_GT(found.imitated.size(), 0u);
  EXPECT_EQ(found.imitated.targets.first.advantages, expected.imitated.targets.first.advantages);
  EXPECT_EQ(found.imitated.targets.first.weights, expected.imitated.targets.first.weights);
}

TEST_P(Imitation, WhatWasFoundOnceIsRepeated) {
  const replay::Segment best = best_of(200);
  ASSERT_GT(best.episode_return, 0.5F);
  Ppo with = ppo(1), without = ppo(0);
  const double before = log_probability(with, best);
  for (int update = 0; update < 10; ++update) {
    const auto fresh = play(16);
    EXPECT_GT(with.update(fresh, {&best, 1}).imitated_steps, 0u);
    without.update(fresh, {&best, 1});
  }
  EXPECT_GT(log_probability(with, best), before + 1);
  EXPECT_GT(log_probability(with, best), log_probability(without, best) + 1);
}

TEST_P(Imitation, WhatDidWorseThanExpectedIsNot) {
  auto episodes = play(16);
  replay::Segment worst = episodes.front();
  for (replay::Step& step : worst.steps) step.reward = -10;
  Ppo one = ppo(1), other = ppo(1);
  EXPECT_EQ(one.update(episodes, {&worst, 1}).imitated_steps, 0u);
  other.update(episodes);
  EXPECT_EQ(one.weights(), other.weights());
}

TEST_P(Imitation, EpisodesOfModelsWithoutAFreshStepWaitWhereEachModelHasItsScale) {
  const auto fresh = play(16);
  replay::Segment best = best_of(200);
  best.model = 7;
  PpoOptions options = imitating(1);
  for (const bool by_model : {false, true}) {
    options.normalise_by_model = by_model;
    Ppo learner(network_, weights_, ChainWorld::rules(), options, "cpu", 3);
    EXPECT_EQ(learner.update(fresh, {&best, 1}).imitated_steps == 0, by_model);
  }
}

TEST_P(Imitation, AnEpisodeThatDidNotTerminateIsRefused) {
  const auto fresh = play(4);
  replay::Segment cut = best_of(50);
  cut.steps.back().terminated = false;
  EXPECT_THROW(ppo(1).prepare(fresh, {&cut, 1}), replay::ReplayError);
}

INSTANTIATE_TEST_SUITE_P(Both, Imitation, testing::Values(nn::Head::pointer, nn::Head::hierarchical),
                         [](const auto& head) { return std::string(enum_name(head.param)); });

}  // namespace
}
