// Checks of the LibTorch network against slow obvious references.
#include "core/nn/training/network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "core/nn/inference/device.h"
#include "core/nn/synthetic_observation.h"

namespace regraft::nn::training {
namespace {

using test::pointers;
using test::synthetic_observation;
using test::SyntheticSize;
using torch::Tensor;

constexpr std::uint64_t kSeed = 20260;

RowMap random_map(std::size_t rows, std::size_t groups, Rng& rng) {
  std::vector<std::int32_t> group(rows);
  for (auto& g : group) g = static_cast<std::int32_t>(rng.below(groups));
  return make_row_map(group, groups);
}

Tensor random_tensor(std::int64_t rows, std::int64_t columns, Rng& rng) {
  auto x = torch::empty({rows, columns}, torch::kFloat64);
  for (std::int64_t i = 0; i < x.numel(); ++i) x.view({-1})[i] = rng.uniform(-2, 2);
  return x;
}

TEST(Rows, GatherAndSegmentSumEqualLoopsAndAreEachOthersGradient) {
  SCOPED_TRACE(kSeed);
  Rng rng(kSeed, "rows");
  const RowMap map = random_map(17, 6, rng);
  const Rows rows = to_rows(map, torch::kCPU);
  auto groups_side = random_tensor(6, 3, rng).requires_grad_();
  auto rows_side = random_tensor(17, 3, rng).requires_grad_();
  const auto gathered = gather(groups_side, rows);
  const auto summed = segment_sum(rows_side, rows);
  auto expected = torch::zeros({6, 3}, torch::kFloat64);
  for (std::int64_t i = 0; i < 17; ++i) {
    EXPECT_TRUE(torch::equal(gathered[i], groups_side[map.group[i]]));
    expected[map.group[i]] += rows_side[i].detach();
  }
  EXPECT_TRUE(torch::allclose(summed, expected));
  // <gather(x), y> = <x, segment_sum(y)>, and so are the gradients.
  const auto both = (gathered * rows_side.detach()).sum() + (summed * groups_side.detach()).sum();
  both.backward();
  EXPECT_TRUE(torch::allclose(groups_side.grad(), expected));
  EXPECT_TRUE(torch::allclose(rows_side.grad(), gathered.detach()));
}

TEST(Rows, SegmentLogSoftmaxEqualsNaiveOnWildScores) {
  SCOPED_TRACE(kSeed);
  Rng rng(kSeed, "softmax");
  const std::vector<std::int32_t> group = {0, 0, 0, 1, 2, 2};
  const std::vector<double> score = {1000.0, 999.0, -1000.0, -5000.0, 0.25, 0.5};
  const RowMap map = make_row_map(group, 3);
  const auto result = segment_log_softmax(torch::tensor(score, torch::kFloat64), to_rows(map, torch::kCPU));
  EXPECT_NEAR(result[0].item<double>(), -std::log1p(std::exp(-1.0)), 1e-12);
  EXPECT_NEAR(result[1].item<double>(), -1 - std::log1p(std::exp(-1.0)), 1e-12);
  EXPECT_NEAR(result[2].item<double>(), -2000 - std::log1p(std::exp(-1.0)), 1e-9);
  EXPECT_DOUBLE_EQ(result[3].item<double>(), 0.0);
  EXPECT_NEAR(result[4].item<double>(), std::log(std::exp(0.25) / (std::exp(0.25) + std::exp(0.5))), 1e-12);
}

class NetworkTest : public testing::TestWithParam<Head> {
 protected:
  NetworkTest() : network(config, torch::kCPU, torch::kFloat64) {
    set_torch_threads(1);
    Weights weights = initial_weights(config, kSeed);
    test::wake_up(weights);
    network.load(weights);
    SyntheticSize size;
    for (const std::size_t nodes : {1, 7, 12}) {
      size.nodes = nodes;
      observations.push_back(synthetic_observation(size, rng));
    }
    rules = rule_tensor(test::synthetic_rules(size.rules, rng), torch::kCPU, torch::kFloat64);
  }

  BatchTensors tensors(std::span<const env::Observation* const> list) const {
    return {make_batch(list, config.node_kinds, 5), torch::kCPU, torch::kFloat64};
  }

  bool bound() const { return GetParam() == Head::hierarchical; }
  /// V2 of each graph for a rule of its own; nothing with a pointer head.
  Tensor rule_values(const BatchTensors& batch) const {
    if (!bound()) return torch::zeros({1}, torch::kFloat64);
    return network.rule_values(network.encode(batch).globals, torch::arange(3));
  }

  NetworkConfig config{.width = 8,
                       .steps = 2,
                       .node_kinds = 20,
                       .head = GetParam(),
                       .head_width = bound() ? 24u : 0u,
                       .rules = bound() ? 6u : 0u};
  Rng rng{kSeed, "network"};
  Network network;
  std::vector<env::Observation> observations;
  Tensor rules;
};

TEST_P(NetworkTest, BatchedEqualsSingle) {
  const auto batched = network.forward(tensors(pointers(observations)), rules);
  std::int64_t at = 0;
  for (std::size_t graph = 0; graph < observations.size(); ++graph) {
    const env::Observation* one[] = {&observations[graph]};
    const auto single = network.forward(tensors(one), rules);
    const auto count = single.log_probabilities.size(0);
    EXPECT_TRUE(torch::allclose(batched.log_probabilities.narrow(0, at, count), single.log_probabilities,
                                1e-10, 1e-10));
    EXPECT_NEAR(single.log_probabilities.exp().sum().item<double>(), 1.0, 1e-12);
    EXPECT_NEAR(batched.values[static_cast<std::int64_t>(graph)].item<double>(),
                single.values[0].item<double>(), 1e-10);
    at += count;
  }
}

TEST_P(NetworkTest, TheHalvesOfAHierarchicalHeadAreDistributionsOverWhatIsLegal) {
  const auto batch = tensors(pointers(observations));
  const auto output = network.forward(batch, rules);
  if (!bound()) {
    EXPECT_FALSE(output.rule_log_probabilities.defined());
    return;
  }
  std::size_t row = 0;
  for (std::size_t graph = 0; graph < observations.size(); ++graph) {
    std::map<std::uint16_t, double> located;
    std::map<std::uint16_t, double> chosen;
    for (const auto rule : observations[graph].candidate_rules) {
      const auto at = static_cast<std::int64_t>(row);
      const auto pair = batch.host.groups.pair.group[row++];
      EXPECT_EQ(batch.host.groups.rules[static_cast<std::size_t>(pair)], rule);
      const double first = output.rule_log_probabilities[pair].item<double>();
      const double second = output.location_log_probabilities[at].item<double>();
      EXPECT_NEAR(output.log_probabilities[at].item<double>(), first + second, 1e-12);
      chosen[rule] = std::exp(first);
      located[rule] += std::exp(second);
    }
    double sum = 0;
    for (const auto& [rule, probability] : chosen) sum += probability;
    EXPECT_NEAR(sum, 1, 1e-12);
    for (const auto& [rule, probability] : located) EXPECT_NEAR(probability, 1, 1e-12) << rule;
  }
}

TEST_P(NetworkTest, IsInvariantToNodeOrder) {
  const auto& original = observations[2];
  const auto n = static_cast<std::int32_t>(original.node_count());
  // Node i becomes n - 1 - i; edges keep their order, since sums do not care.
  env::Observation turned = original;
  for (std::int32_t i = 0; i < n; ++i) {
    turned.node_kinds[n - 1 - i] = original.node_kinds[i];
    std::copy_n(original.node_features.begin() + i * env::kNodeFeatures, env::kNodeFeatures,
                turned.node_features.begin() + (n - 1 - i) * env::kNodeFeatures);
  }
  for (auto* list : {&turned.senders, &turned.receivers, &turned.candidate_nodes}) {
    for (auto& node : *list) node = n - 1 - node;
  }
  const env::Observation *a[] = {&original}, *b[] = {&turned};
  const auto first = network.forward(tensors(a), rules);
  const auto second = network.forward(tensors(b), rules);
  EXPECT_TRUE(torch::allclose(first.log_probabilities, second.log_probabilities, 1e-10, 1e-10));
  EXPECT_TRUE(torch::allclose(first.values, second.values, 1e-10, 1e-10));
}

TEST_P(NetworkTest, GradientsEqualFiniteDifferences) {
  const auto batch = tensors(pointers(observations));
  const auto weighting = random_tensor(static_cast<std::int64_t>(batch.host.candidates()), 1, rng).squeeze(1);
  const auto loss = [&] {
    const auto output = network.forward(batch, rules);
    return (output.log_probabilities * weighting).sum() + output.values.pow(2).sum() +
           rule_values(batch).pow(2).sum();
  };
  network.gradients().zero_();
  loss().backward();
  torch::NoGradGuard no_grad;
  constexpr double kStep = 1e-6;
  std::size_t checked = 0;
  for (const auto& spec : weight_layout(config)) {
    for (int probe = 0; probe < 3; ++probe) {
      const auto at = static_cast<std::int64_t>(spec.offset + rng.below(spec.count));
      const double before = network.parameters()[at].item<double>();
      network.parameters()[at] = before + kStep;
      const double above = loss().item<double>();
      network.parameters()[at] = before - kStep;
      const double below = loss().item<double>();
      network.parameters()[at] = before;
      const double expected = (above - below) / (2 * kStep);
      const double found = network.gradients()[at].item<double>();
      EXPECT_NEAR(found, expected, 1e-5 * std::max(1.0, std::abs(expected)))
          << spec.name << "[" << at << "] seed " << kSeed;
      checked += std::abs(expected) > 1e-9;
    }
  }
  EXPECT_GT(checked, 60u);
}

TEST_P(NetworkTest, EveryTensorGetsAGradient) {
  network.gradients().zero_();
  const auto batch = tensors(pointers(observations));
  const auto output = network.forward(batch, rules);
  const auto weighting = torch::arange(output.log_probabilities.size(0), torch::kFloat64);
  ((output.log_probabilities * weighting).sum() + output.values.sum() + rule_values(batch).sum()).backward();
  for (const auto& spec : weight_layout(config)) {
    const auto part = network.gradients().narrow(0, static_cast<std::int64_t>(spec.offset),
                                                 static_cast<std::int64_t>(spec.count));
    EXPECT_GT(part.abs().sum().item<double>(), 0.0) << spec.name;
  }
}

TEST_P(NetworkTest, LoadThenStoreGivesTheSameWeights) {
  const Weights weights = initial_weights(config, 5);
  Network other(config, torch::kCPU);
  other.load(weights);
  EXPECT_EQ(other.store(), weights);
}

INSTANTIATE_TEST_SUITE_P(Heads, NetworkTest, testing::Values(Head::pointer, Head::hierarchical),
                         [](const auto& head) { return std::string(enum_name(head.param)); });

}  // namespace
}
