#include "core/nn/inference/controller.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/nn/inference/device.h"
#include "core/nn/model/controller_file.h"
#include "core/nn/model/nn_error.h"
#include "core/nn/training/controller_network.h"

namespace regraft::nn {
namespace {

constexpr std::uint64_t kSeed = 1409;

Weights random_weights(const ControllerConfig& config) {
  Weights weights = initial_weights(config, kSeed);
  Rng rng(kSeed, "controller weights");
  for (float& value : weights.values) value = static_cast<float>(0.3 * rng.normal());
  return weights;
}

std::vector<float> random_states(std::size_t rows, std::size_t stride, Rng& rng) {
  std::vector<float> states(rows * stride);
  for (float& value : states) value = static_cast<float>(rng.uniform(-1, 1));
  return states;
}

TEST(Controller, EqualsTheNetworkThatIsTrained) {
  SCOPED_TRACE(kSeed);
  set_torch_threads(1);
  const torch::NoGradGuard no_grad;
  for (const ControllerConfig& config :
       {ControllerConfig{.state = 5, .rules = 3, .locations = 4, .width = 7},
        ControllerConfig{.state = 288, .rules = 40, .locations = 50, .width = 64}}) {
    const Weights weights = random_weights(config);
    Controller controller(config, weights);
    training::ControllerNetwork network(config, torch::kCPU);
    network.load(weights);
    Rng rng(kSeed, "controller test");
    const std::uint32_t rows = 9;
    const std::size_t stride = config.state + 3;
    const std::vector<float> states = random_states(rows, stride, rng);
    std::vector<std::uint32_t> order{7, 0, 3, 8};
    controller.read(order, states.data(), stride);
    for (const std::uint32_t row : order) {
      std::vector<std::uint32_t> legal;
      training::ControllerSteps steps;
      steps.legal = torch::zeros({1, config.rules}, torch::kBool);
      for (std::uint32_t x = 0; x < config.rules; ++x)
        if (x + 1 == config.rules || rng.below(2) == 0) legal.push_back(x), steps.legal[0][x] = true;
      ControllerChoice choice = controller.choose_rule(row, legal, ActionSelection::drawn, rng);
      const auto count = static_cast<std::uint32_t>(1 + rng.below(config.locations));
      const bool noop = choice.rule + 1 == config.rules;
      if (!noop) controller.choose_location(row, count, ActionSelection::drawn, rng, choice);
      EXPECT_LT(choice.location, noop ? 1 : count);
      steps.states =
          torch::from_blob(const_cast<float*>(states.data()) + row * stride, {1, config.state}).clone();
      steps.rules = torch::tensor({std::int64_t{choice.rule}});
      steps.locations = torch::tensor({std::int64_t{choice.location}});
      steps.counts = torch::tensor({std::int64_t{noop ? 1 : count}});
      const training::ControllerOutput output = network.forward(steps);
      EXPECT_NEAR(choice.log_rule, output.log_rule.item<float>(), 1e-5);
      EXPECT_NEAR(choice.log_location, output.log_location.item<float>(), 1e-5);
      EXPECT_NEAR(choice.value, output.value.item<float>(), 1e-5);
      EXPECT_NEAR(choice.rule_value, output.rule_value.item<float>(), 1e-5);
    }
  }
}

TEST(Controller, ChoicesFollowTheProbabilitiesThatAreListed) {
  SCOPED_TRACE(kSeed);
  for (const ControllerKind kind : {ControllerKind::hierarchical, ControllerKind::linear}) {
    const ControllerConfig config{.kind = kind, .state = 6, .rules = 4, .locations = 3, .width = 8};
    Controller controller(config, random_weights(config));
    Rng rng(kSeed, "controller draws");
    const std::vector<float> state = random_states(1, config.state, rng);
    const std::vector<std::uint16_t> counts{2, 0, 5, 1};  // 5: more than it tells apart
    const std::vector<float> logs = controller.log_probabilities(state, counts);
    ASSERT_EQ(logs.size(), 2u + 5u + 1u);
    double total = 0;
    for (const float log : logs) total += std::exp(log);
    EXPECT_NEAR(total, 1, 1e-5);
    EXPECT_NEAR(logs[4], logs[6], 1e-6) << "further locations share the last";
    const std::uint32_t row = 0, draws = 20'000;
    const std::vector<std::uint32_t> legal{0, 2, 3};
    std::vector<double> seen(8, 0.0);
    for (std::uint32_t i = 0; i < draws; ++i) {
      controller.read({&row, 1}, state.data(), state.size());
      ControllerChoice choice = controller.choose_rule(row, legal, ActionSelection::drawn, rng);
      if (choice.rule != 3)
        controller.choose_location(row, counts[choice.rule], ActionSelection::drawn, rng, choice);
      const std::size_t at = choice.rule == 0 ? choice.location : choice.rule == 2 ? 2 + choice.location : 7;
      seen[at] += 1.0 / draws;
      if (choice.rule == 0) {
        ASSERT_NEAR(choice.log_rule + choice.log_location, logs[choice.location], 1e-4);
      }
    }
    for (const std::size_t i : {0u, 1u, 2u, 3u, 7u}) {
      const double p = std::exp(static_cast<double>(logs[i]));
      EXPECT_NEAR(seen[i], p, 5 * std::sqrt(p * (1 - p) / draws) + 1e-4) << i;
    }
    controller.read({&row, 1}, state.data(), state.size());
    const ControllerChoice likely = controller.choose_rule(row, legal, ActionSelection::most_likely, rng);
    for (int i = 0; i < 50; ++i)
      EXPECT_GE(likely.log_rule, controller.choose_rule(row, legal, ActionSelection::drawn, rng).log_rule);
  }
}

TEST(Controller, GradientsOfTheNetworkAreThoseOfFiniteDifferences) {
  SCOPED_TRACE(kSeed);
  set_torch_threads(1);
  const ControllerConfig config{.state = 4, .rules = 3, .locations = 4, .width = 3};
  training::ControllerNetwork network(config, torch::kCPU, torch::kFloat64);
  network.load(random_weights(config));
  torch::manual_seed(kSeed);
  training::ControllerSteps steps;
  steps.states = torch::randn({3, 4}, torch::kFloat64);
  steps.legal = torch::tensor({1, 1, 1, 0, 1, 1, 1, 0, 1}).view({3, 3}).to(torch::kBool);
  steps.rules = torch::tensor({1, 1, 2});
  steps.counts = torch::tensor({4, 2, 1});
  steps.locations = torch::tensor({3, 0, 0});
  const auto loss = [&] {
    const training::ControllerOutput out = network.forward(steps);
    return (out.log_rule + 2 * out.log_location + 0.5 * out.rule_entropy + 0.3 * out.location_entropy +
            out.value.square() + out.rule_value.square())
        .sum();
  };
  loss().backward();
  const torch::Tensor gradient = network.parameters().gradients().clone();
  torch::Tensor& values = network.parameters().values();
  const torch::NoGradGuard no_grad;
  for (std::int64_t i = 0; i < values.numel(); ++i) {
    const double before = values[i].item<double>(), step = 1e-6;
    values[i] = before + step;
    const double up = loss().item<double>();
    values[i] = before - step;
    const double down = loss().item<double>();
    values[i] = before;
    ASSERT_NEAR(gradient[i].item<double>(), (up - down) / (2 * step), 1e-6) << i;
  }
  EXPECT_GT(gradient.abs().max().item<double>(), 0.1);
}

TEST(Controller, ALinearOneHasAboutTwoThousandThreeHundredParameters) {
  EXPECT_EQ(query_parameters({.kind = ControllerKind::linear}), 2312u);
}

TEST(Controller, BytesComeBackAndDamageIsRefused) {
  for (const ControllerKind kind : {ControllerKind::hierarchical, ControllerKind::linear}) {
    ControllerFile file{.config = {.kind = kind, .state = 6, .rules = 4, .locations = 3, .width = 8},
                        .weights = {},
                        .training_record = R"({"updates":3})"};
    file.weights = random_weights(file.config);
    const std::vector<std::byte> bytes = encode_controller(file);
    EXPECT_EQ(decode_controller(bytes, "test"), file);
    for (const std::size_t size : {std::size_t{0}, std::size_t{7}, bytes.size() / 2, bytes.size() - 1})
      EXPECT_THROW(decode_controller(std::span(bytes).first(size), "test"), NnError) << size;
    std::vector<std::byte> damaged = bytes;
    damaged.back() ^= std::byte{1};
    EXPECT_THROW(decode_controller(damaged, "test"), NnError);
  }
}

}  // namespace
}
