#include "core/nn/training/mdn_rnn.h"

#include <gtest/gtest.h>
#include <torch/optim/adam.h>

#include <cmath>
#include <numbers>

#include "core/nn/inference/device.h"
#include "core/nn/model/nn_error.h"

namespace regraft::nn::training {
namespace {

using torch::Tensor;

constexpr std::uint64_t kSeed = 612;

Tensor random_tensor(const std::vector<std::int64_t>& shape, Rng& rng,
                     torch::ScalarType type = torch::kFloat64) {
  Tensor x = torch::empty(shape, torch::kFloat64);
  double* values = x.data_ptr<double>();
  for (std::int64_t i = 0; i < x.numel(); ++i) values[i] = rng.uniform(-1, 1);
  return x.to(type);
}

DynamicsConfig small_config() {
  return {
      .latent = 3, .action = 2, .hidden = 8, .mixtures = 4, .rules = 5, .count_bins = 3, .sigma_floor = 0.05};
}

class MdnRnnTest : public testing::Test {
 protected:
  MdnRnnTest() : model(small_config(), torch::kCPU, torch::kFloat64), rng(kSeed, "mdn-rnn test") {
    set_torch_threads(1);
    model.load(initial_weights(small_config(), kSeed));
  }

  DynamicsTargets targets(std::int64_t time, std::int64_t batch) {
    DynamicsTargets made;
    made.valid = torch::ones({time, batch}, torch::kFloat64);
    made.latent = random_tensor({time, batch, 3}, rng);
    made.reward = random_tensor({time, batch}, rng);
    made.terminal = (random_tensor({time, batch}, rng) > 0.6).to(torch::kFloat64);
    made.rules = (random_tensor({time, batch, 5}, rng) > 0).to(torch::kFloat64);
    made.counts = (random_tensor({time, batch, 5}, rng).abs() * 2.99).to(torch::kInt64);
    return made;
  }
  static Tensor total(const DynamicsLosses& l) {
    return l.latent + l.reward + l.terminal + l.rules + l.counts;
  }

  MdnRnn model;
  Rng rng;
};

TEST_F(MdnRnnTest, LikelihoodEqualsTheMixtureWrittenOut) {
  const Tensor z = random_tensor({6, 3}, rng), a = random_tensor({6, 2}, rng),
               next = random_tensor({6, 3}, rng);
  RecurrentState state = model.initial_state(6);
  const DynamicsOutput output = model.step(z, a, state);
  const Tensor loss = negative_log_likelihood(output, next);
  for (std::int64_t row = 0; row < 6; ++row) {
    double density = 0, weights = 0;
    for (std::int64_t k = 0; k < 4; ++k) {
      double component = std::exp(output.log_weights[row][k].item<double>());
      weights += component;
      for (std::int64_t d = 0; d < 3; ++d) {
        const double sigma = output.sigma[row][k][d].item<double>();
        const double distance = (next[row][d].item<double>() - output.mean[row][k][d].item<double>()) / sigma;
        EXPECT_GT(sigma, 0.05);
        component *= std::exp(-0.5 * distance * distance) / (sigma * std::sqrt(2 * std::numbers::pi));
      }
      density += component;
    }
    EXPECT_NEAR(weights, 1, 1e-12);
    EXPECT_NEAR(loss[row].item<double>(), -std::log(density), 1e-9);
  }
}

/// Told z where an episode begins, a sequence of own latents is what stepping and drawing gives.
TEST_F(MdnRnnTest, OwnLatentsAreThoseOfADreamFromTheSameStarts) {
  const std::int64_t time = 6, batch = 3;
  const Tensor z = random_tensor({time, batch, 3}, rng), a = random_tensor({time, batch, 2}, rng);
  Tensor starts = torch::zeros({time, batch}, torch::kFloat64);
  starts[0].fill_(1);
  starts[4][1] = 1;
  Rng drawn(kSeed, "own"), again(kSeed, "own");
  const Tensor own = model.sampled_latents(z, a, starts, model.draws(time, batch, drawn));
  ASSERT_EQ(own.sizes(), z.sizes());
  EXPECT_TRUE(own[0].equal(z[0]));
  EXPECT_TRUE(own[4][1].equal(z[4][1]));
  EXPECT_FALSE(own.requires_grad());
  RecurrentState state = model.initial_state(batch);
  Tensor now = z[0];
  for (std::int64_t t = 0; t < time; ++t) {
    if (t == 4) {
      now[1] = z[4][1];
      state.hidden[1].zero_();
      state.cell[1].zero_();
    }
    EXPECT_TRUE(own[t].allclose(now, 0, 1e-12)) << t;
    const torch::NoGradGuard no_grad;
    now = sample(model.step(now.clone(), a[t], state), {}, again);
  }
}

TEST_F(MdnRnnTest, UnrolledEqualsSteppedAndBatchedEqualsSingle) {
  const std::int64_t time = 7, batch = 4;
  const Tensor z = random_tensor({time, batch, 3}, rng), a = random_tensor({time, batch, 2}, rng);
  const Tensor starts = torch::zeros({time, batch}, torch::kFloat64);
  const DynamicsOutput all = model.unroll(z, a, starts);
  for (std::int64_t b = 0; b < batch; ++b) {
    RecurrentState state = model.initial_state(1);
    for (std::int64_t t = 0; t < time; ++t) {
      const DynamicsOutput one = model.step(z[t].slice(0, b, b + 1), a[t].slice(0, b, b + 1), state);
      EXPECT_TRUE(torch::allclose(one.log_weights[0], all.log_weights[t][b], 0, 1e-12));
      EXPECT_TRUE(torch::allclose(one.mean[0], all.mean[t][b], 0, 1e-12));
      EXPECT_TRUE(torch::allclose(one.sigma[0], all.sigma[t][b], 0, 1e-12));
      EXPECT_TRUE(torch::allclose(one.counts[0], all.counts[t][b], 0, 1e-12));
      EXPECT_NEAR(one.reward[0].item<double>(), all.reward[t][b].item<double>(), 1e-12);
      EXPECT_NEAR(one.terminal[0].item<double>(), all.terminal[t][b].item<double>(), 1e-12);
      EXPECT_TRUE(torch::allclose(one.rules[0], all.rules[t][b], 0, 1e-12));
    }
  }
}

TEST_F(MdnRnnTest, AnEpisodeKnowsNothingOfTheOneBefore) {
  const Tensor z = random_tensor({6, 2, 3}, rng), a = random_tensor({6, 2, 2}, rng);
  Tensor starts = torch::zeros({6, 2}, torch::kFloat64);
  starts[3][1] = 1;
  const DynamicsOutput joined = model.unroll(z, a, starts);
  const DynamicsOutput alone =
      model.unroll(z.slice(0, 3), a.slice(0, 3), torch::zeros({3, 2}, torch::kFloat64));
  EXPECT_TRUE(torch::allclose(joined.mean.slice(0, 3).select(1, 1), alone.mean.select(1, 1), 0, 1e-12));
  EXPECT_FALSE(torch::allclose(joined.mean.slice(0, 3).select(1, 0), alone.mean.select(1, 0), 0, 1e-4));
}

TEST_F(MdnRnnTest, PaddingChangesNoLossAndNoGradient) {
  const std::int64_t time = 5, batch = 3, padding = 4;
  const Tensor z = random_tensor({time, batch, 3}, rng), a = random_tensor({time, batch, 2}, rng);
  const DynamicsTargets exact = targets(time, batch);
  const Tensor starts = torch::zeros({time, batch}, torch::kFloat64);
  const Tensor loss = total(losses(model.unroll(z, a, starts), exact));
  loss.backward();
  const Tensor gradient = model.parameters().gradients().clone();
  model.parameters().gradients().zero_();

  const auto padded = [&](const Tensor& x, const Tensor& with) { return torch::cat({x, with}, 0); };
  DynamicsTargets more = targets(padding, batch);
  more.valid.zero_();
  for (auto [to, from] : {std::pair{&more.valid, &exact.valid}, std::pair{&more.latent, &exact.latent},
                          std::pair{&more.reward, &exact.reward}, std::pair{&more.terminal, &exact.terminal},
                          std::pair{&more.rules, &exact.rules}, std::pair{&more.counts, &exact.counts}})
    *to = padded(*from, *to);
  const DynamicsOutput output = model.unroll(padded(z, 1e3 * random_tensor({padding, batch, 3}, rng)),
                                             padded(a, 1e3 * random_tensor({padding, batch, 2}, rng)),
                                             padded(starts, torch::zeros({padding, batch}, torch::kFloat64)));
  const Tensor same = total(losses(output, more));
  same.backward();
  EXPECT_NEAR(same.item<double>(), loss.item<double>(), 1e-12);
  EXPECT_TRUE(torch::allclose(model.parameters().gradients(), gradient, 0, 1e-12));
  EXPECT_GT(gradient.abs().max().item<double>(), 1e-4) << "the comparison must compare something";
}

TEST_F(MdnRnnTest, LossesOfTheLanesOfABatchAddUpToItsOwn) {
  const std::int64_t time = 5, batch = 4;
  const Tensor z = random_tensor({time, batch, 3}, rng), a = random_tensor({time, batch, 2}, rng);
  const Tensor starts = torch::zeros({time, batch}, torch::kFloat64);
  DynamicsTargets all = targets(time, batch);
  all.valid.slice(0, 2).select(1, 1).zero_();
  const Tensor whole = total(losses(model.unroll(z, a, starts), all));
  Tensor sum = torch::zeros({}, torch::kFloat64);
  for (const auto& [first, last] : {std::pair{0, 3}, std::pair{3, 4}, std::pair{4, 4}}) {
    const auto part = [first = first, last = last](const Tensor& of) { return of.slice(1, first, last); };
    const DynamicsTargets own{part(all.valid),    part(all.latent), part(all.reward),
                              part(all.terminal), part(all.rules),  part(all.counts)};
    sum = sum + total(losses(model.unroll(part(z), part(a), part(starts)), own, &all));
  }
  EXPECT_NEAR(sum.item<double>(), whole.item<double>(), 1e-12);
  whole.backward();
  const Tensor gradient = model.parameters().gradients().clone();
  model.parameters().gradients().zero_();
  sum.backward();
  EXPECT_TRUE(torch::allclose(model.parameters().gradients(), gradient, 0, 1e-12));
}

TEST_F(MdnRnnTest, NothingIsLearntOfTheStateAfterTheEnd) {
  const Tensor z = random_tensor({1, 2, 3}, rng), a = random_tensor({1, 2, 2}, rng);
  const Tensor starts = torch::zeros({1, 2}, torch::kFloat64);
  DynamicsTargets at_end = targets(1, 2);
  at_end.terminal[0][0] = 0;
  at_end.terminal[0][1] = 1;
  const DynamicsLosses before = losses(model.unroll(z, a, starts), at_end);
  at_end.latent[0][1] += 5;
  at_end.rules[0][1] = 1 - at_end.rules[0][1];
  const DynamicsLosses after = losses(model.unroll(z, a, starts), at_end);
  EXPECT_EQ(before.latent.item<double>(), after.latent.item<double>());
  EXPECT_EQ(before.rules.item<double>(), after.rules.item<double>());
  EXPECT_EQ(before.counts.item<double>(), after.counts.item<double>());
  at_end.terminal[0][1] = 0;
  EXPECT_NE(before.latent.item<double>(), losses(model.unroll(z, a, starts), at_end).latent.item<double>());
}

/// A mixture that is known, repeated in every row.
DynamicsOutput known_mixture(std::int64_t batch) {
  DynamicsOutput output;
  output.log_weights = torch::log(torch::tensor({0.5, 0.3, 0.2})).expand({batch, 3});
  output.mean = torch::tensor({-10.0, 0.0, 10.0}).view({1, 3, 1}).expand({batch, 3, 2});
  output.sigma = torch::tensor({0.5, 1.0, 2.0}).view({1, 3, 1}).expand({batch, 3, 2});
  return output;
}

TEST(MdnSample, ComponentsFollowTheTemperedWeights) {
  SCOPED_TRACE(kSeed);
  Rng rng(kSeed, "mdn sample");
  const std::int64_t batch = 40'000;
  const std::vector<double> weights{0.5, 0.3, 0.2};
  for (const double tau : {0.5, 1.0, 2.5}) {
    std::vector<std::int64_t> chosen;
    const Tensor z = sample(known_mixture(batch), {.tau = tau}, rng, &chosen);
    double total = 0;
    for (const double w : weights) total += std::pow(w, 1 / tau);
    for (std::int64_t k = 0; k < 3; ++k) {
      const double expected = std::pow(weights[static_cast<std::size_t>(k)], 1 / tau) / total;
      const double seen = static_cast<double>(std::ranges::count(chosen, k)) / static_cast<double>(batch);
      EXPECT_NEAR(seen, expected, 5 * std::sqrt(expected * (1 - expected) / static_cast<double>(batch)))
          << tau;
      const Tensor of_k = z.index({torch::tensor(chosen) == k});
      EXPECT_NEAR(of_k.mean().item<double>(), -10.0 + 10.0 * static_cast<double>(k), 0.1);
      EXPECT_NEAR(of_k.std().item<double>(), 0.5 * std::pow(2.0, k), 0.05) << "tau leaves sigma alone";
    }
  }
  std::vector<std::int64_t> chosen;
  const Tensor wide = sample(known_mixture(batch), {.tau = 4, .scale_sigma = true}, rng, &chosen);
  EXPECT_NEAR(wide.index({torch::tensor(chosen) == 0}).std().item<double>(), 0.5 * 2, 0.03);
}

TEST(MdnSample, AtZeroTheModeIsTaken) {
  Rng rng(kSeed, "mdn mode");
  EXPECT_TRUE(torch::equal(sample(known_mixture(5), {.tau = 0}, rng), torch::full({5, 2}, -10.0)));
}

TEST(Dynamics, CountsFallIntoTheBinsTheyOpen) {
  for (std::uint32_t bin = 0; bin < 16; ++bin) EXPECT_EQ(count_bin(least_count(bin), 16), bin);
  for (const auto& [count, bin] : {std::pair{1u, 0u},
                                   {2u, 1u},
                                   {8u, 7u},
                                   {12u, 8u},
                                   {13u, 9u},
                                   {16u, 9u},
                                   {17u, 10u},
                                   {24u, 10u},
                                   {25u, 11u},
                                   {33u, 12u},
                                   {200u, 15u}})
    EXPECT_EQ(count_bin(count, 16), bin) << count;
  EXPECT_EQ(count_bin(200, 3), 2u) << "the last bin is open";
  for (std::uint32_t count = 1; count < 97; ++count) {
    const std::uint32_t offered = least_count(count_bin(count, 16));
    EXPECT_LE(offered, count) << "no location is offered that is not there";
    EXPECT_GE(3 * offered, 2 * count) << "and few are kept back";
  }
}

TEST(Dynamics, WeightsOfAnotherConfigAreRefused) {
  MdnRnn model(small_config(), torch::kCPU);
  DynamicsConfig other = small_config();
  other.hidden = 9;
  EXPECT_THROW(model.load(initial_weights(other, 1)), NnError);
  const Weights weights = initial_weights(small_config(), 1);
  model.load(weights);
  EXPECT_EQ(model.store(), weights);
  other.hidden = 0;
  EXPECT_THROW(check(other), NnError);
}

/// Episodes of 12 steps in two dims: a coin is shown at the first step, and the last state is drawn around
/// +-1 by it; in between states are drawn from a mixture that depends on nothing.
struct CoinWorld {
  static constexpr std::int64_t kSteps = 12, kLatent = 2;
  static constexpr double kSigma = 0.3, kLikely = 0.7;

  /// z [kSteps + 1, batch, 2] and the true -log p of z[1..], [kSteps, batch], given all before.
  static std::pair<Tensor, Tensor> episodes(std::int64_t batch, Rng& rng) {
    Tensor z = torch::zeros({kSteps + 1, batch, kLatent}), truth = torch::zeros({kSteps, batch});
    auto states = z.accessor<float, 3>();
    auto losses = truth.accessor<float, 2>();
    for (std::int64_t b = 0; b < batch; ++b) {
      const double coin = rng.uniform() < 0.5 ? 1 : -1;
      states[0][b][0] = static_cast<float>(coin);
      for (std::int64_t t = 1; t <= kSteps; ++t) {
        const double likely = t == kSteps ? (coin > 0 ? 1.0 : 0.0) : kLikely;
        const double center = rng.uniform() < likely ? 1 : -1;
        double up = 1, down = 1;
        for (std::int64_t d = 0; d < kLatent; ++d) {
          const double value = center + kSigma * rng.normal();
          states[t][b][d] = static_cast<float>(value);
          up *= density(value - 1);
          down *= density(value + 1);
        }
        losses[t - 1][b] = static_cast<float>(-std::log(likely * up + (1 - likely) * down));
      }
    }
    return {z, truth};
  }
  static double density(double distance) {
    return std::exp(-0.5 * distance * distance / (kSigma * kSigma)) /
           (kSigma * std::sqrt(2 * std::numbers::pi));
  }
};

TEST(MdnRnnLearning, FindsAKnownMixtureThatNeedsTenStepsOfMemory) {
  SCOPED_TRACE(kSeed);
  set_torch_threads(1);
  const DynamicsConfig config{.latent = 2, .action = 1, .hidden = 32, .mixtures = 3, .count_bins = 6};
  MdnRnn model(config, torch::kCPU);
  model.load(initial_weights(config, kSeed));
  torch::optim::Adam adam({model.parameters().values()}, torch::optim::AdamOptions(1e-2));
  Rng rng(kSeed, "coin world");
  const auto loss_of = [&](const Tensor& z) {
    const std::int64_t batch = z.size(1);
    const Tensor steps = z.slice(0, 0, CoinWorld::kSteps), next = z.slice(0, 1);
    return negative_log_likelihood(model.unroll(steps, torch::zeros({CoinWorld::kSteps, batch, 1}),
                                                torch::zeros({CoinWorld::kSteps, batch})),
                                   next);
  };
  const int updates = 2500;
  for (int update = 0; update < updates; ++update) {
    for (auto& group : adam.param_groups()) {
      const double left = 1 - static_cast<double>(update) / updates;
      static_cast<torch::optim::AdamOptions&>(group.options()).lr(1e-2 * left + 1e-4);
    }
    model.parameters().gradients().zero_();
    loss_of(CoinWorld::episodes(64, rng).first).mean().backward();
    model.parameters().values().mutable_grad() = model.parameters().gradients();
    adam.step();
  }
  const auto [z, truth] = CoinWorld::episodes(4000, rng);
  const torch::NoGradGuard no_grad;
  const Tensor learnt = loss_of(z);
  const double per_dim = (learnt - truth).mean().item<double>() / CoinWorld::kLatent;
  const double last = (learnt[CoinWorld::kSteps - 1] - truth[CoinWorld::kSteps - 1]).mean().item<double>() /
                      CoinWorld::kLatent;
  EXPECT_LT(per_dim, 0.02) << "nats a dimension above the true mixture";
  EXPECT_GT(per_dim, -0.02) << "nothing beats the truth";
  EXPECT_LT(last, 0.05) << "the coin of the first step is remembered; forgotten, this were log(2) / 2";
}

}  // namespace
}
