// Checks of the LibTorch network against slow obvious references.
#include "core/nn/internal/network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/nn/device.h"
#include "core/nn/error.h"
#include "tests/core/nn/synthetic_observation.h"

namespace regraft::nn::internal {
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

class NetworkTest : public testing::Test {
 protected:
  NetworkTest() : network(config, torch::kCPU, torch::kFloat64) {
    set_torch_threads(1);
    Weights weights = initial_weights(config, kSeed);
    // The first policy is near uniform by design: wake up its last layer so that errors show.
    for (auto& w : weights.tensor("pointer.output")) w *= 100;
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

  NetworkConfig config{.width = 8, .steps = 2, .node_kinds = 20};
  Rng rng{kSeed, "network"};
  Network network;
  std::vector<env::Observation> observations;
  Tensor rules;
};

TEST_F(NetworkTest, BatchedEqualsSingle) {
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

TEST_F(NetworkTest, IsInvariantToNodeOrder) {
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

TEST_F(NetworkTest, GradientsEqualFiniteDifferences) {
  const auto batch = tensors(pointers(observations));
  const auto weighting = random_tensor(static_cast<std::int64_t>(batch.host.candidates()), 1, rng).squeeze(1);
  const auto loss = [&] {
    const auto output = network.forward(batch, rules);
    return (output.log_probabilities * weighting).sum() + output.values.pow(2).sum();
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

TEST_F(NetworkTest, EveryTensorGetsAGradient) {
  network.gradients().zero_();
  const auto batch = tensors(pointers(observations));
  const auto output = network.forward(batch, rules);
  (output.log_probabilities.narrow(0, 0, 1).sum() + output.values.sum()).backward();
  for (const auto& spec : weight_layout(config)) {
    const auto part = network.gradients().narrow(0, static_cast<std::int64_t>(spec.offset),
                                                 static_cast<std::int64_t>(spec.count));
    EXPECT_GT(part.abs().sum().item<double>(), 0.0) << spec.name;
  }
}

TEST_F(NetworkTest, LoadThenStoreGivesTheSameWeights) {
  const Weights weights = initial_weights(config, 5);
  Network other(config, torch::kCPU);
  other.load(weights);
  EXPECT_EQ(other.store(), weights);
}

}  // namespace
}  // namespace regraft::nn::internal
