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
    if (imitates) kind.imitated = torch::tensor({false, false, true});
    PpoSums sums;
    ppo_loss({&kind, 1}, options, entropy_coefficient, sums).backward();
    return sums;
  }
};

double at(const Tensor& gradient, int index) {
  return gradient[index].item<double>();
}

TEST(PpoLoss, WhatIsImitatedPullsAtItsProbabilityAloneHoweverFarFromTheProximalOne) {
  ThreeDecisions of;
  const PpoSums sums = of.backward(true, {}, 0.1);
  EXPECT_NEAR(at(of.log_probability.grad(), 2), -0.5 * 3 / 3, 1e-6);  // weight times advantage, of 3 steps
  EXPECT_EQ(at(of.values.grad(), 2), 0);
  EXPECT_EQ(at(of.entropy.grad(), 2), 0);
  EXPECT_EQ(sums.approx_kl, 0);
  EXPECT_EQ(sums.clip_fraction, 0);
  EXPECT_NEAR(sums.entropy, 2.0 / 3, 1e-6);
  EXPECT_NEAR(sums.value_loss, (0.25 + 0.5625) / 3, 1e-6);
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
  EXPECT_NEAR(sums.clip_fraction, 1.0 / 3, 1e-6);
  EXPECT_GT(sums.approx_kl, 0);
}

TEST(PpoLoss, OnlyImitatedDecisionsAreNoDivisionByNothing) {
  ThreeDecisions of;
  Decisions kind{of.log_probability, of.entropy,    of.values, of.proximal,
                 of.weights,         of.advantages, of.targets};
  kind.imitated = torch::ones({3}, torch::kBool);
  PpoSums sums;
  EXPECT_TRUE(std::isfinite(ppo_loss({&kind, 1}, {}, 0.1, sums).item<double>()));
  EXPECT_EQ(sums.approx_kl, 0);
}

}  // namespace
}  // namespace regraft::learner
