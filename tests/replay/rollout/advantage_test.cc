#include "replay/rollout/advantage.h"

#include <gmock/gmock.h>

#include <cmath>

#include "core/base/rng.h"
#include "replay/rollout/replay_error.h"

namespace regraft::replay {
namespace {

struct Episode {
  std::vector<float> rewards, values, ratios;
  std::vector<std::uint8_t> terminated;
  float bootstrap = 0, gamma = 1;
  ReturnInputs inputs() const { return {rewards, values, terminated, bootstrap, gamma}; }
};

Episode random_episode(Rng& rng) {
  Episode episode;
  for (std::uint64_t i = 1 + rng.below(30); i > 0; --i) {
    episode.rewards.push_back(static_cast<float>(rng.normal()));
    episode.values.push_back(static_cast<float>(rng.normal()));
    episode.ratios.push_back(static_cast<float>(std::exp(rng.normal())));
    episode.terminated.push_back(rng.below(6) == 0 ? 1 : 0);
  }
  episode.bootstrap = static_cast<float>(rng.normal());
  episode.gamma = static_cast<float>(rng.uniform(0.5, 1));
  return episode;
}

double value_after(const Episode& e, std::size_t t) {
  if (e.terminated[t] != 0) return 0;
  return t + 1 < e.values.size() ? e.values[t + 1] : e.bootstrap;
}

/// The definition, summed forwards.
double gae_at(const Episode& e, std::size_t from, double lambda) {
  double sum = 0, weight = 1;
  for (std::size_t t = from; t < e.rewards.size(); ++t) {
    sum += weight * (e.rewards[t] + e.gamma * value_after(e, t) - e.values[t]);
    if (e.terminated[t] != 0) break;
    weight *= e.gamma * lambda;
  }
  return sum;
}

TEST(Advantage, GaeEqualsItsDefinition) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed, "gae");
    const Episode episode = random_episode(rng);
    const auto lambda = static_cast<float>(rng.uniform());
    const Advantages result = gae(episode.inputs(), lambda);
    for (std::size_t t = 0; t < episode.rewards.size(); ++t) {
      const double expected = gae_at(episode, t, lambda);
      EXPECT_NEAR(result.advantages[t], expected, 1e-4);
      EXPECT_NEAR(result.targets[t], expected + episode.values[t], 1e-4);
    }
  }
}

TEST(Advantage, OnPolicyVTraceGivesNStepReturns) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed, "v-trace on policy");
    Episode episode = random_episode(rng);
    episode.ratios.assign(episode.rewards.size(), 1);
    const Advantages result = v_trace(episode.inputs(), episode.ratios, 1);
    for (std::size_t from = 0; from < episode.rewards.size(); ++from) {
      double expected = 0, weight = 1;
      std::size_t t = from;
      for (; t < episode.rewards.size(); ++t) {
        expected += weight * episode.rewards[t];
        weight *= episode.gamma;
        if (episode.terminated[t] != 0) break;
      }
      if (t == episode.rewards.size()) expected += weight * episode.bootstrap;
      EXPECT_NEAR(result.targets[from], expected, 1e-4);
    }
  }
}

/// Equation 1 of the paper: v_s = V(s) + sum over t of gamma^(t-s) (product of c_i) rho_t delta_t.
TEST(Advantage, VTraceEqualsItsDefinitionOffPolicy) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed, "v-trace off policy");
    const Episode e = random_episode(rng);
    const Advantages result = v_trace(e.inputs(), e.ratios, 0.9F, 1.5F, 1.0F);
    for (std::size_t from = 0; from < e.rewards.size(); ++from) {
      double expected = e.values[from], weight = 1;
      for (std::size_t t = from; t < e.rewards.size(); ++t) {
        const double rho = std::min(1.5F, e.ratios[t]);
        expected += weight * rho * (e.rewards[t] + e.gamma * value_after(e, t) - e.values[t]);
        if (e.terminated[t] != 0) break;
        weight *= e.gamma * 0.9F * std::min(1.0F, e.ratios[t]);
      }
      EXPECT_NEAR(result.targets[from], expected, 1e-3);
    }
  }
}

/// Steps of two halves, NO-OPs among them, as one long list of decisions.
struct HalfEpisode {
  std::vector<float> rewards, values, rule_values, first_ratios, second_ratios;
  std::vector<std::uint8_t> second_halves, terminated;
  float bootstrap = 0, gamma = 1;
  HalfStepInputs inputs() const {
    return {rewards, values, rule_values, second_halves, terminated, bootstrap, gamma};
  }
};

HalfEpisode random_half_episode(Rng& rng) {
  HalfEpisode episode;
  const auto normal = [&] { return static_cast<float>(rng.normal()); };
  for (std::uint64_t i = 1 + rng.below(20); i > 0; --i) {
    episode.rewards.push_back(normal());
    episode.values.push_back(normal());
    episode.rule_values.push_back(normal());
    episode.first_ratios.push_back(std::exp(normal()));
    episode.second_ratios.push_back(std::exp(normal()));
    episode.second_halves.push_back(rng.below(4) != 0 ? 1 : 0);
    episode.terminated.push_back(rng.below(6) == 0 ? 1 : 0);
  }
  episode.bootstrap = normal();
  episode.gamma = static_cast<float>(rng.uniform(0.5, 1));
  return episode;
}

double state_value_after(const HalfEpisode& e, std::size_t t) {
  if (e.terminated[t] != 0) return 0;
  return t + 1 < e.values.size() ? e.values[t + 1] : e.bootstrap;
}

/// The sum of the definition from one half on, forwards: what each later delta counts is the product of what
/// lies between. Without ratios this is GAE; with them equation 1 of V-trace less V.
double half_step_sum(const HalfEpisode& e, std::size_t from, bool second, double lambda, bool corrected) {
  double sum = 0, weight = 1;
  for (std::size_t t = from; t < e.rewards.size(); ++t) {
    const double last_delta_reward = e.rewards[t] + e.gamma * state_value_after(e, t);
    for (const bool half : {false, true}) {
      if ((t == from && second && !half) || (half && e.second_halves[t] == 0)) continue;
      const double ratio = half ? e.second_ratios[t] : e.first_ratios[t];
      const bool pays = half || e.second_halves[t] == 0;
      const double value = half ? e.rule_values[t] : e.values[t];
      const double delta = (pays ? last_delta_reward : e.rule_values[t]) - value;
      sum += weight * delta * (corrected ? std::min(1.5, ratio) : 1);
      weight *= lambda * (pays ? e.gamma : 1) * (corrected ? std::min(1.0, ratio) : 1);
    }
    if (e.terminated[t] != 0) break;
  }
  return sum;
}

TEST(HalfStepAdvantage, GaeEqualsItsDefinition) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed, "half-step gae");
    const HalfEpisode e = random_half_episode(rng);
    const auto lambda = static_cast<float>(rng.uniform());
    const HalfStepAdvantages result = half_step_gae(e.inputs(), lambda);
    for (std::size_t t = 0; t < e.rewards.size(); ++t) {
      const double first = half_step_sum(e, t, false, lambda, false);
      EXPECT_NEAR(result.first.advantages[t], first, 1e-4);
      EXPECT_NEAR(result.first.targets[t], first + e.values[t], 1e-4);
      const bool there = e.second_halves[t] != 0;
      const double second = there ? half_step_sum(e, t, true, lambda, false) : 0;
      EXPECT_NEAR(result.second.advantages[t], second, 1e-4);
      EXPECT_NEAR(result.second.targets[t], there ? second + e.rule_values[t] : 0, 1e-4);
    }
  }
}

TEST(HalfStepAdvantage, VTraceEqualsItsDefinitionOffPolicy) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed, "half-step v-trace");
    const HalfEpisode e = random_half_episode(rng);
    const auto result = half_step_v_trace(e.inputs(), e.first_ratios, e.second_ratios, 0.9F, 1.5F, 1.0F);
    for (std::size_t t = 0; t < e.rewards.size(); ++t) {
      EXPECT_NEAR(result.first.targets[t], e.values[t] + half_step_sum(e, t, false, 0.9F, true), 1e-3);
      if (e.second_halves[t] == 0) continue;
      EXPECT_NEAR(result.second.targets[t], e.rule_values[t] + half_step_sum(e, t, true, 0.9F, true), 1e-3);
      // Advantages look one decision ahead, at its target.
      const double rule_target = result.second.targets[t];
      EXPECT_NEAR(result.first.advantages[t], std::min(1.5F, e.first_ratios[t]) * (rule_target - e.values[t]),
                  1e-3);
    }
  }
}

TEST(HalfStepAdvantage, OnPolicyVTraceGivesNStepReturnsAtBothHalves) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed, "half-step n-step");
    HalfEpisode e = random_half_episode(rng);
    e.first_ratios.assign(e.rewards.size(), 1);
    e.second_ratios.assign(e.rewards.size(), 1);
    const auto result = half_step_v_trace(e.inputs(), e.first_ratios, e.second_ratios, 1);
    for (std::size_t from = 0; from < e.rewards.size(); ++from) {
      double expected = 0, weight = 1;
      std::size_t t = from;
      for (; t < e.rewards.size(); ++t) {
        expected += weight * e.rewards[t];
        weight *= e.gamma;
        if (e.terminated[t] != 0) break;
      }
      if (t == e.rewards.size()) expected += weight * e.bootstrap;
      EXPECT_NEAR(result.first.targets[from], expected, 1e-4);
      if (e.second_halves[from] != 0) {
        EXPECT_NEAR(result.second.targets[from], expected, 1e-4);
      }
    }
  }
}

TEST(HalfStepAdvantage, WithoutSecondHalvesItIsThatOfWholeSteps) {
  Rng rng(5, "whole steps");
  HalfEpisode e = random_half_episode(rng);
  std::fill(e.second_halves.begin(), e.second_halves.end(), 0);
  const ReturnInputs whole{e.rewards, e.values, e.terminated, e.bootstrap, e.gamma};
  EXPECT_EQ(half_step_gae(e.inputs(), 0.9F).first.advantages, gae(whole, 0.9F).advantages);
  EXPECT_EQ(half_step_v_trace(e.inputs(), e.first_ratios, e.second_ratios, 0.9F).first.targets,
            v_trace(whole, e.first_ratios, 0.9F).targets);
}

TEST(Advantage, ArraysOfDifferentLengthsAreRefused) {
  const std::vector<float> two{1, 2}, one{1};
  const std::vector<std::uint8_t> flags{0, 1};
  EXPECT_THROW(gae({two, one, flags, 0, 1}, 1), ReplayError);
  EXPECT_THROW(v_trace({two, two, flags, 0, 1}, one, 1), ReplayError);
  EXPECT_THROW(half_step_gae({two, two, one, flags, flags, 0, 1}, 1), ReplayError);
  EXPECT_THROW(half_step_v_trace({two, two, two, flags, flags, 0, 1}, two, one, 1), ReplayError);
}

}  // namespace
}
