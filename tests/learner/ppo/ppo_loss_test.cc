#include "learner/ppo/ppo_loss.h"

#include <gtest/gtest.h>

#include <cmath>

namespace regraft::learner {
namespace {

using torch::Tensor;

Tensor leaf(std::initializer_list<float> values) {
  return torch::tensor(std::vector<float>(values)).requires_grad_();
}

/// Three decisions, the last of which may be imitated.
struct ThreeDecisions {
  Tensor log_probability = leaf({-1, -2, -3}), entropy = leaf({1, 1, 1}), values = leaf({0.5F, 0.25F, 4});
  Tensor proximal = torch::tensor({-1.0F, -2.0F, -1.0F}), weights = torch::tensor({1.0F, 1.0F, 0.5F});
  Tensor advantages = torch::tensor({2.0F, -1.0F, 3.0F}), targets = torch::tensor({1.0F, 1.0F, 0.0F});

  PpoSums backward(bool imitates, const PpoOptions& options, double entropy_coefficient) {
    Decisions kind{log_probability, entropy, values, proximal, weights, advantages, targets};
    if (imitates) {
      kind.imitated = torch::tensor({false, false, true});
      kind.imitated_count = 1;
    }
    PpoSums sums;
    ppo_loss({&kind, 1}, options, entropy_coefficient, sums).backward();
    return sums;
  }
};

double value(const Tensor& sum) {
  return sum.item<double>();
}

double at(const Tensor& gradient, int index) {
  return gradient[index].item<double>();
}

TEST(PpoLoss, WhatIsImitatedPullsAtItsProbabilityAloneHoweverFarFromTheProximalOne) {
  ThreeDecisions of;
  const PpoSums sums = of.backward(true, {.imitation = 0.25}, 0.1);
  EXPECT_NEAR(at(of.log_probability.grad(), 2), -0.25 * 0.5 * 3,
              1e-6);  // share, weight, advantage; of 1 step
  EXPECT_EQ(at(of.values.grad(), 2), 0);
  EXPECT_EQ(at(of.entropy.grad(), 2), 0);
  EXPECT_EQ(value(sums.approx_kl), 0);
  EXPECT_EQ(value(sums.clip_fraction), 0);
  EXPECT_NEAR(value(sums.entropy), 1, 1e-6);
  EXPECT_NEAR(value(sums.value_loss), (0.25 + 0.5625) / 2, 1e-6);
}

/// The first two decisions alone, and with a third that is imitated.
TEST(PpoLoss, ImitationLeavesTheTermsOfFreshDecisionsAsTheyAre) {
  const PpoOptions options{.imitation = 2};
  ThreeDecisions with, alone;
  const PpoSums sums = with.backward(true, options, 0.1);
  const auto two = [](const Tensor& all) { return all.narrow(0, 0, 2); };
  Decisions kind{two(alone.log_probability), two(alone.entropy),    two(alone.values), two(alone.proximal),
                 two(alone.weights),         two(alone.advantages), two(alone.targets)};
  PpoSums expected;
  ppo_loss({&kind, 1}, options, 0.1, expected).backward();
  for (const auto leaf :
       {&ThreeDecisions::log_probability, &ThreeDecisions::entropy, &ThreeDecisions::values})
    EXPECT_TRUE(two((with.*leaf).grad()).allclose(two((alone.*leaf).grad()), 0, 1e-7));
  EXPECT_NEAR(value(sums.value_loss), value(expected.value_loss), 1e-7);
  EXPECT_NEAR(value(sums.entropy), value(expected.entropy), 1e-7);
}

TEST(PpoLoss, FreshDecisionsAreClippedAndHaveAllThreeTerms) {
  ThreeDecisions of;
  const PpoOptions options;
  const PpoSums sums = of.backward(false, options, 0.1);
  EXPECT_NEAR(at(of.log_probability.grad(), 0), -2.0 / 3, 1e-6);
  // Ratio e^-2, advantage above 0: below the clip, so it still counts.
  EXPECT_NEAR(at(of.log_probability.grad(), 2), -0.5 * 3 * std::exp(-2.0) / 3, 1e-6);
  EXPECT_NEAR(at(of.values.grad(), 2), options.value_coefficient * 2 * 4 / 3, 1e-6);
  EXPECT_NEAR(at(of.entropy.grad(), 2), -0.1 / 3, 1e-6);
  EXPECT_NEAR(value(sums.clip_fraction), 1.0 / 3, 1e-6);
  EXPECT_GT(value(sums.approx_kl), 0);
}

/// Ratio e: what is good is not pushed further, what is bad is drawn back.
TEST(PpoLoss, ARatioAboveTheUpperClipCountsOnlyWhereItIsToFall) {
  ThreeDecisions of;
  of.proximal = torch::tensor({-2.0F, -3.0F, -3.0F});
  const PpoSums sums = of.backward(false, {}, 0);
  EXPECT_EQ(at(of.log_probability.grad(), 0), 0);                              // advantage 2
  EXPECT_NEAR(at(of.log_probability.grad(), 1), std::exp(1.0) * 1 / 3, 1e-6);  // advantage -1
  EXPECT_NEAR(value(sums.clip_fraction), 2.0 / 3, 1e-6);
  // 2 (1 + clip), -e, and 0.5 * 3 at ratio 1.
  EXPECT_NEAR(value(sums.policy_loss), -(2 * (1 + PpoOptions{}.clip) - std::exp(1.0) + 1.5) / 3, 1e-6);
}

TEST(PpoLoss, OnlyImitatedDecisionsAreNoDivisionByNothing) {
  ThreeDecisions of;
  Decisions kind{of.log_probability, of.entropy,    of.values, of.proximal,
                 of.weights,         of.advantages, of.targets};
  kind.imitated = torch::ones({3}, torch::kBool);
  kind.imitated_count = 3;
  PpoSums sums;
  EXPECT_TRUE(std::isfinite(ppo_loss({&kind, 1}, {}, 0.1, sums).item<double>()));
  EXPECT_EQ(value(sums.approx_kl), 0);
}

}  // namespace
}
