#include "learner/ppo/ppo_targets.h"

#include <gmock/gmock.h>

#include <cmath>

#include "replay/rollout/advantage.h"
#include "replay/rollout/replay_error.h"

namespace regraft::learner {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::FloatNear;

/// Three steps, the last a NO-OP.
struct Stretch {
  std::vector<float> rewards{0.5F, -0.25F, 0}, mu1{-1, -2, -0.5F}, mu2{-0.7F, -0.1F, 0};
  std::vector<float> pi1{-1.5F, 1, -0.5F}, pi2{-0.7F, -1.1F, 0}, v1{0.2F, 0.1F, 0.3F}, v2{0.4F, -0.2F, 0};
  std::vector<std::uint8_t> terminated{0, 0, 1}, second_halves{1, 1, 0};

  StepTargets targets(const PpoOptions& options) const {
    return make_targets({rewards, terminated, second_halves, mu1, mu2, 9}, {pi1, pi2, v1, v2}, options);
  }
};

TEST(PpoTargets, DecoupledWeightsEachHalfByItsOwnTruncatedRatioAndEstimatesByGae) {
  const Stretch stretch;
  PpoOptions options;
  options.ratio_limit = 2;
  const StepTargets targets = stretch.targets(options);
  EXPECT_THAT(targets.first.weights, ElementsAre(FloatNear(std::exp(-0.5F), 1e-6F), 2, 1));
  EXPECT_THAT(targets.second.weights, ElementsAre(1, FloatNear(std::exp(-1.0F), 1e-6F), 1));
  const auto expected = replay::half_step_gae(
      {stretch.rewards, stretch.v1, stretch.v2, stretch.second_halves, stretch.terminated, 9, 1}, 0.95F);
  EXPECT_EQ(targets.first.advantages, expected.first.advantages);
  EXPECT_EQ(targets.second.targets, expected.second.targets);
}

TEST(PpoTargets, NeverCorrectsTwice) {
  const Stretch stretch;
  PpoOptions options;
  options.correction = Correction::v_trace;
  const StepTargets targets = stretch.targets(options);
  EXPECT_THAT(targets.first.weights, Each(1));
  EXPECT_THAT(targets.second.weights, Each(1));
  Stretch on_policy = stretch;  // GAE does not look at ratios, V-trace does
  on_policy.mu1 = on_policy.pi1;
  on_policy.mu2 = on_policy.pi2;
  EXPECT_NE(on_policy.targets(options).first.advantages, targets.first.advantages);
  EXPECT_EQ(on_policy.targets({}).first.advantages, stretch.targets({}).first.advantages);
}

TEST(PpoTargets, NormalisesTheAdvantagesOfAllDecisionsTogether) {
  StepTargets targets = Stretch().targets({});
  normalise_advantages(targets);
  double sum = 0, squares = 0;
  for (const auto& [half, count] : {std::pair(&targets.first, 3), std::pair(&targets.second, 2)})
    for (int i = 0; i < count; ++i) {
      sum += half->advantages[static_cast<std::size_t>(i)];
      squares += std::pow(half->advantages[static_cast<std::size_t>(i)], 2);
    }
  EXPECT_NEAR(sum, 0, 1e-5);
  EXPECT_NEAR(squares / 5, 1, 1e-5);
  EXPECT_EQ(targets.second.advantages[2], 0) << "there is no such decision";
}

TEST(PpoTargets, ModelsWithLittleToGainCountAsMuchWhenNormalisedByThemselves) {
  StepTargets targets;
  std::vector<std::uint32_t> models;
  for (int i = 0; i < 40; ++i) {
    const float sign = i % 2 == 0 ? 1.0F : -1.0F;
    // Large gains, small ones, and none but noise.
    for (const auto& [model, size] : {std::pair(0U, 1.0F), std::pair(3U, 0.2F), std::pair(7U, 1e-5F)}) {
      models.push_back(model);
      targets.second_halves.push_back(0);
      targets.first.proximal.push_back(0);
      targets.first.advantages.push_back(static_cast<float>(model) + sign * size);
      targets.second.advantages.push_back(0);
    }
  }
  StepTargets together = targets;
  normalise_advantages(targets, models);
  EXPECT_NEAR(targets.first.advantages[0], 1, 1e-3);
  EXPECT_NEAR(targets.first.advantages[4], -1, 1e-3);
  EXPECT_LT(std::abs(targets.first.advantages[2]), 1e-3);
  normalise_advantages(together);
  EXPECT_GT(together.first.advantages[5], together.first.advantages[0]) << "means are not taken off by model";
}

TEST(PpoTargets, ImitationCountsWhatWasBetterThanTheValuesExpect) {
  Stretch stretch;  // returns 0.25, -0.25, 0
  stretch.v2 = {-0.2F, -0.3F, 0};
  PpoOptions options;
  options.imitation = 0.5;
  const StepTargets targets = make_imitation_targets(
      {stretch.rewards, stretch.terminated, stretch.second_halves, stretch.mu1, stretch.mu2, 9},
      {stretch.pi1, stretch.pi2, stretch.v1, stretch.v2}, options);
  EXPECT_THAT(targets.first.advantages, ElementsAre(FloatNear(0.05F, 1e-6F), 0, 0));
  EXPECT_THAT(targets.second.advantages, ElementsAre(FloatNear(0.45F, 1e-6F), FloatNear(0.05F, 1e-6F), 0));
  EXPECT_THAT(targets.first.weights, Each(1));
  EXPECT_EQ(targets.first.proximal, stretch.pi1);
}

TEST(PpoTargets, ImitatedAdvantagesAreScaledAsTheirModelsAreAndBounded) {
  StepTargets targets;
  for (const float advantage : {0.2F, 5.0F, 0.001F, 0.0F, 0.2F}) {
    targets.second_halves.push_back(0);
    targets.first.proximal.push_back(0);
    targets.first.advantages.push_back(advantage);
    targets.second.advantages.push_back(0);
  }
  const std::vector<std::uint32_t> models{1, 1, 1, 1, 2};
  scale_imitated(targets, models, {{1, 0.1}});
  EXPECT_THAT(targets.first.advantages, ElementsAre(FloatNear(2, 1e-5F), 3, FloatNear(0.01F, 1e-7F), 0, 0));
}

TEST(PpoTargets, ArraysOfDifferentLengthsAreRefused) {
  Stretch stretch;
  stretch.v2.pop_back();
  EXPECT_THROW(stretch.targets({}), replay::ReplayError);
  StepTargets targets = Stretch().targets({});
  const std::vector<std::uint32_t> two{0, 1};
  EXPECT_THROW(normalise_advantages(targets, two), replay::ReplayError);
}

}  // namespace
}
