#include "replay/advantage.h"

#include <gmock/gmock.h>

#include <cmath>

#include "core/base/rng.h"
#include "replay/error.h"

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

TEST(Advantage, ArraysOfDifferentLengthsAreRefused) {
  const std::vector<float> two{1, 2}, one{1};
  const std::vector<std::uint8_t> flags{0, 1};
  EXPECT_THROW(gae({two, one, flags, 0, 1}, 1), ReplayError);
}

}  // namespace
}  // namespace regraft::replay
