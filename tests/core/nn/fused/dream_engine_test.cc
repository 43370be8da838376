#include "core/nn/fused/dream_engine.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/nn/inference/device.h"
#include "core/nn/model/nn_error.h"
#include "core/nn/training/mdn_rnn.h"

namespace regraft::nn::internal {
namespace {

constexpr std::uint64_t kSeed = 906;
constexpr double kRounding = 2e-5;

std::vector<DreamKernels> kernels_of_this_machine() {
  std::vector<DreamKernels> all{dream_kernels_base()};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) all.push_back(dream_kernels_avx2());
  if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl"))
    all.push_back(dream_kernels_avx512());
#endif
  return all;
}

/// Weights whose gates and heads leave the linear range, with embedded actions.
Weights random_weights(const DynamicsConfig& config, std::uint32_t locations) {
  Weights weights = initial_weights(config, kSeed);
  Rng rng(kSeed, "dream engine weights");
  for (float& value : weights.values) value = 2 * value + static_cast<float>(rng.uniform(-0.1, 0.1));
  for (const auto& [name, rows] :
       {std::pair{"action.xfer", config.rules}, std::pair{"action.location", locations}}) {
    const std::size_t count = std::size_t{rows} * config.action;
    weights.tensors.push_back({name, {rows, config.action}, weights.values.size(), count});
    for (std::size_t i = 0; i < count; ++i) weights.values.push_back(static_cast<float>(rng.normal()));
  }
  return weights;
}

Weights without_actions(const Weights& weights, const DynamicsConfig& config) {
  Weights own{weight_layout(config), weights.values};
  own.values.resize(own.tensors.back().offset + own.tensors.back().count);
  return own;
}

double largest_difference(std::span<const float> ours, const torch::Tensor& theirs) {
  const torch::Tensor host = theirs.contiguous();
  EXPECT_EQ(static_cast<std::int64_t>(ours.size()), host.numel());
  double most = 0;
  for (std::size_t i = 0; i < ours.size(); ++i)
    most = std::max(most, std::abs(static_cast<double>(ours[i]) - host.data_ptr<float>()[i]));
  return most;
}

/// One row at a time through LibTorch beside all rows through the engine, step after step.
class Comparison {
 public:
  Comparison(const DynamicsConfig& config, const DreamKernels& kernels, std::uint32_t replicas)
      : config_(config),
        weights_(random_weights(config, 6)),
        model_(config, torch::kCPU),
        engine_(config, kernels) {
    model_.load(without_actions(weights_, config));
    engine_.load(weights_);
    engine_.set_replicas(replicas);
    for (std::uint32_t row = 0; row < replicas; ++row) {
      states_.push_back(model_.initial_state(1));
      latents_.push_back(torch::zeros({1, config.latent}));
      ours_.emplace_back(row, "stream");
      theirs_.emplace_back(row, "stream");
    }
  }

  void step(std::span<const std::uint32_t> rows, const SampleOptions& options, Rng& rng) {
    std::vector<torch::Tensor> actions;
    for (const std::uint32_t row : rows) {
      const auto rule = static_cast<std::uint32_t>(rng.below(config_.rules));
      const auto location = static_cast<std::uint32_t>(rng.below(9));
      engine_.embed(row, rule, location);
      actions.push_back(torch::empty({1, config_.action}));
      for (std::uint32_t i = 0; i < config_.action; ++i) {
        const float embedded =
            weights_.tensor("action.xfer")[rule * config_.action + i] +
            weights_.tensor("action.location")[std::min(location, 5u) * config_.action + i];
        actions.back()[0][i] = embedded;
      }
    }
    engine_.advance(rows);
    engine_.read_heads(rows);
    engine_.sample(rows, options, ours_);
    for (std::size_t i = 0; i < rows.size(); ++i) compare(rows[i], actions[i], options);
  }

  void compare(std::uint32_t row, const torch::Tensor& action, const SampleOptions& options) {
    const training::DynamicsOutput output = model_.step(latents_[row], action, states_[row]);
    latents_[row] = training::sample(output, options, theirs_[row]);
    EXPECT_LT(largest_difference(engine_.hidden(row), states_[row].hidden), kRounding);
    EXPECT_LT(largest_difference(engine_.cell(row), states_[row].cell), kRounding);
    EXPECT_LT(largest_difference(engine_.rule_logits(row), output.rules), kRounding);
    EXPECT_NEAR(engine_.reward(row), output.reward[0].item<float>(), kRounding);
    EXPECT_NEAR(engine_.terminal(row), output.terminal[0].item<float>(), kRounding);
    for (std::uint32_t rule = 0; rule < config_.rules; rule += 3) {
      EXPECT_LT(largest_difference(engine_.count_logits(row, rule), output.counts[0][rule]), kRounding);
      EXPECT_EQ(engine_.count_bin_of(row, rule), output.counts[0][rule].argmax().item<std::int64_t>());
    }
    EXPECT_LT(largest_difference(engine_.latent(row), latents_[row]), 5 * kRounding);
    EXPECT_EQ(ours_[row].state(), theirs_[row].state()) << "as many numbers are drawn";
    // From here on both go the same way, so that roundings do not add up over steps.
    std::copy_n(engine_.latent(row).data(), config_.latent, latents_[row].data_ptr<float>());
  }

 private:
  DynamicsConfig config_;
  Weights weights_;
  training::MdnRnn model_;
  DreamEngine engine_;
  std::vector<training::RecurrentState> states_;
  std::vector<torch::Tensor> latents_;
  std::vector<Rng> ours_, theirs_;
};

TEST(DreamEngine, EqualsTheNetworkStepByStepOnEveryInstructionSet) {
  SCOPED_TRACE(kSeed);
  set_torch_threads(1);
  const torch::NoGradGuard no_grad;
  const std::vector<DynamicsConfig> configs{
      {.latent = 1, .action = 1, .hidden = 1, .mixtures = 1, .rules = 1, .count_bins = 1},
      {.latent = 5, .action = 3, .hidden = 21, .mixtures = 4, .rules = 7, .count_bins = 5},
      {.latent = 33, .action = 8, .hidden = 64, .mixtures = 3, .rules = 90, .count_bins = 16},
      {.rules = 30}};
  for (const DreamKernels& kernels : kernels_of_this_machine()) {
    SCOPED_TRACE(kernels.lanes);
    for (const DynamicsConfig& config : configs) {
      for (const std::uint32_t replicas : {1u, 5u, 23u}) {
        Comparison comparison(config, kernels, replicas);
        Rng rng(kSeed, "dream engine");
        for (const SampleOptions& options :
             {SampleOptions{}, SampleOptions{.tau = 0.5}, SampleOptions{.tau = 1.7, .scale_sigma = true},
              SampleOptions{.tau = 0}}) {
          // Any subset of the rows, in any order.
          std::vector<std::uint32_t> rows;
          for (std::uint32_t row = replicas; row-- > 0;)
            if (replicas == 1 || rng.below(4) > 0) rows.push_back(row);
          comparison.step(rows, options, rng);
        }
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(DreamEngine, NormalsAreThoseOfTheStreamToTheLastBitOfAFloat) {
  SCOPED_TRACE(kSeed);
  const std::size_t count = 64'000;
  for (const DreamKernels& kernels : kernels_of_this_machine()) {
    Rng ours(kSeed, "normals"), theirs(kSeed, "normals");
    std::vector<double> radius(count), angle(count);
    for (std::size_t i = 0; i < count; ++i) {
      radius[i] = ours.uniform();
      angle[i] = ours.uniform();
    }
    radius[0] = 0;
    radius[1] = 1 - 0x1p-53;
    angle[2] = 0;
    std::vector<float> mean(count, 0.0f), raw(count, 0.0f), z(count);
    kernels.draw({count, mean.data(), raw.data(), radius.data(), angle.data(), 0.0f, 1.0f, z.data()});
    const double sigma = std::log(2.0);
    for (std::size_t i = 0; i < count; ++i) {
      const double expected =
          i < 3 ? std::sqrt(-2 * std::log(1 - radius[i])) * std::cos(2 * std::numbers::pi * angle[i])
                : theirs.normal();
      if (i < 3) theirs.normal();
      ASSERT_NEAR(z[i], sigma * expected, 1e-6 * std::max(1.0, std::abs(expected))) << i;
    }
  }
}

TEST(DreamEngine, ExtremesStayFinite) {
  for (const DreamKernels& kernels : kernels_of_this_machine()) {
    std::vector<float> x(16), y(16);
    for (std::size_t i = 0; i < 16; ++i) x[i] = i % 2 == 0 ? 1e30f : -1e30f;
    x[0] = 0.0f;
    y = x;
    kernels.tanh(y.data(), 16);
    EXPECT_EQ(y[0], 0.0f);
    EXPECT_NEAR(y[1], -1, 1e-6);
    EXPECT_NEAR(y[2], 1, 1e-6);
    kernels.exponentials(x.data(), 0.0f, 1.0f, y.data(), 16);
    EXPECT_NEAR(y[0], 1, 1e-6);
    EXPECT_LT(y[1], 1e-37);
    EXPECT_TRUE(std::isfinite(y[2]));
    // As a softmax uses it: nothing is over the shift.
    EXPECT_NEAR(kernels.exponentials(x.data(), 1e30f, 1.0f, y.data(), 16), 7, 1e-5);
    for (float v = -30; v <= 30; v += 0.37f) {
      x.assign(16, v);
      kernels.exponentials(x.data(), 0.0f, 1.0f, y.data(), 16);
      EXPECT_NEAR(y[3] / std::exp(v), 1, 4e-7) << v;
      y = x;
      kernels.tanh(y.data(), 16);
      EXPECT_NEAR(y[5], std::tanh(v), 3e-7) << v;
    }
  }
}

TEST(DreamEngine, WeightsOfAnotherConfigAreRefused) {
  const DynamicsConfig config{.latent = 3, .action = 2, .hidden = 8, .mixtures = 4, .rules = 5};
  DynamicsConfig other = config;
  other.hidden = 9;
  DreamEngine engine(config);
  EXPECT_THROW(engine.load(initial_weights(other, 1)), NnError);
  EXPECT_NO_THROW(engine.load(initial_weights(config, 1)));
}

}  // namespace
}
