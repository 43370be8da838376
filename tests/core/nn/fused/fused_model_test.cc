// Each instruction set's kernels against LibTorch's forward pass and autograd.
#include "core/nn/fused/fused_model.h"

#include <gtest/gtest.h>

#include "core/nn/inference/device.h"
#include "core/nn/model/nn_error.h"
#include "core/nn/synthetic_observation.h"
#include "core/nn/training/trainer.h"

namespace regraft::nn::internal {
namespace {

constexpr std::uint64_t kSeed = 777;

/// Width, head, and whether locations for all sites are among the actions.
class FusedTest : public testing::TestWithParam<std::tuple<std::size_t, Head, env::ActionMode>> {
 protected:
  FusedTest() {
    set_torch_threads(1);
    size.action_mode = config.action_mode;
    for (const std::size_t nodes : {1, 2, 9, 33}) {
      size.nodes = nodes;
      observations.push_back(test::synthetic_observation(size, rng));
    }
    weights = initial_weights(config, kSeed);
    test::wake_up(weights);
    // Biases and shifts start at 0, gains at 1: move them, so that none of their paths is hidden.
    for (const auto& spec : weights.tensors) {
      if (spec.shape.size() > 1) continue;
      for (auto& w : weights.tensor(spec.name)) w += static_cast<float>(rng.uniform(-0.3, 0.3));
    }
  }

  struct Result {
    torch::Tensor log_probabilities, values, gradients;
  };
  Result run(Engine engine) {
    training::Network network(config, torch::kCPU);
    network.load(weights);
    const auto trainer = training::make_trainer(network, rules, engine);
    const auto list = test::pointers(observations);
    // Rules of the first graphs and NO-OP of the last.
    std::vector<std::int32_t> chosen{0, 1, 2};
    chosen.push_back(static_cast<std::int32_t>(observations.back().candidate_count()) - 1);
    const auto graphs = trainer->load(list);
    const auto output =
        trainer->forward(*graphs, std::vector<std::size_t>{0, 1, 2, 3}, chosen, training::Gradients::wanted);
    const auto weighting = torch::sin(torch::arange(output.log_probabilities.size(0)));
    auto loss = (output.log_probabilities * weighting).sum() +
                (output.first.values * torch::arange(1, 5)).sum() + output.first.log_probability.sum() +
                output.first.entropy.sum();
    if (!output.second_graphs.empty())
      loss = loss + output.second.values.pow(2).sum() + output.second.log_probability.sum() -
             output.second.entropy.sum();
    trainer->backward(loss);
    return {output.log_probabilities.detach().clone(), output.first.values.detach().clone(),
            network.gradients().clone()};
  }

  static NetworkConfig make_config(std::size_t rules) {
    const auto [width, head, mode] = GetParam();
    const NetworkConfig pointer{
        .width = static_cast<std::uint32_t>(width), .steps = 3, .node_kinds = 20, .action_mode = mode};
    return head == Head::pointer ? pointer : test::hierarchical(pointer, rules);
  }

  test::SyntheticSize size;
  NetworkConfig config = make_config(size.rules);
  Rng rng{kSeed, "fused"};
  std::vector<env::Observation> observations;
  env::RuleFeatureTable rules = test::synthetic_rules(size.rules, rng, config.action_mode);
  Weights weights;
};

TEST_P(FusedTest, ForwardAndGradientsEqualAutograd) {
  SCOPED_TRACE(kSeed);
  const Result expected = run(Engine::torch);
  const Result found = run(Engine::fused);
  EXPECT_TRUE(torch::allclose(found.log_probabilities, expected.log_probabilities, 1e-5, 1e-5));
  EXPECT_TRUE(torch::allclose(found.values, expected.values, 1e-5, 1e-5));
  for (const auto& spec : weights.tensors) {
    const auto part = [&](const torch::Tensor& flat) {
      return flat.narrow(0, static_cast<std::int64_t>(spec.offset), static_cast<std::int64_t>(spec.count));
    };
    const double scale = part(expected.gradients).abs().max().item<double>();
    const double error = (part(found.gradients) - part(expected.gradients)).abs().max().item<double>();
    EXPECT_GT(scale, 0) << spec.name;
    EXPECT_LT(error, 2e-5 * scale) << spec.name;
  }
}

TEST_P(FusedTest, ThreadsChangeNothingButTheOrderOfSums) {
  const Result one = run(Engine::fused);
  set_torch_threads(2);
  const Result two = run(Engine::fused);
  const Result again = run(Engine::fused);
  set_torch_threads(1);
  // LibTorch computes the rule rows, and not in the same order on two threads.
  EXPECT_TRUE(torch::allclose(one.log_probabilities, two.log_probabilities, 1e-5, 1e-5));
  EXPECT_TRUE(torch::allclose(one.gradients, two.gradients, 1e-4, 1e-5));
  EXPECT_TRUE(torch::equal(two.gradients, again.gradients));
}

/// Runs one graph through the kernels of one instruction set; gives scores, embedding and the gradients of
/// all weights.
std::vector<float> run_kernels(const FusedKernels& kernels, const FusedModel& model,
                               const env::Observation& observation) {
  FusedArena arena;
  FusedGradientArena scratch;
  std::vector<std::uint16_t> candidate_rules;
  const FusedGraph graph = fused_graph(observation, candidate_rules);
  const FusedRows& rows = arena.prepare(graph, model.config(), Tape::kept);
  kernels.forward(model.weights(), graph, rows);
  std::vector<float> result(rows.scores, rows.scores + graph.candidates);
  const float* globals = final_globals(model.weights(), rows);
  result.insert(result.end(), globals, globals + model.config().width);
  const AlignedFloats transposed = model.transposed();
  std::vector<float> sums(model.size()), score_gradients(graph.candidates);
  for (std::size_t i = 0; i < score_gradients.size(); ++i) score_gradients[i] = i % 2 == 0 ? 0.5f : -1.0f;
  FusedGradients gradients{};
  gradients.weights = model.buffer();
  gradients.transposed = transposed.data();
  gradients.sums = sums.data();
  gradients.scores = score_gradients.data();
  const std::vector<float> global_gradients(model.config().width, 0.7f);
  gradients.globals = global_gradients.data();
  scratch.prepare(graph, model.config().width, gradients);
  kernels.backward(model.weights(), graph, rows, gradients);
  result.insert(result.end(), sums.begin(), sums.end());
  return result;
}

TEST_P(FusedTest, InstructionSetsAgree) {
  FusedModel model(config);
  if (config.head == Head::pointer)
    model.set_rule_rows(std::vector<float>(rules.rows() * config.width, 0.25f));
  model.set_weights(weights.values);
  std::vector<FusedKernels> others;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    others.push_back(fused_kernels_avx2(config.width));
  if (best_kernels(config).forward == fused_kernels_avx512(config.width).forward) {
    others.push_back(fused_kernels_avx512(config.width));
  }
#endif
  for (const auto& observation : observations) {
    const auto expected = run_kernels(fused_kernels_base(config.width), model, observation);
    for (const auto& kernels : others) {
      const auto found = run_kernels(kernels, model, observation);
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_NEAR(found[i], expected[i], 1e-4f * (1 + std::abs(expected[i])));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Networks, FusedTest,
    testing::Combine(testing::Values(16, 32, 64), testing::Values(Head::pointer, Head::hierarchical),
                     testing::Values(env::ActionMode::one_site, env::ActionMode::all_sites)));

TEST(Fused, EveryInstructionSetHasTheSameWidths) {
  for (const std::size_t width : {8, 16, 24, 32, 64, 128}) {
    const bool made = width == 16 || width == 32 || width == 64;
    EXPECT_EQ(fused_kernels_base(width).backward != nullptr, made) << width;
#if defined(__x86_64__)
    EXPECT_EQ(fused_kernels_avx2(width).backward != nullptr, made) << width;
    EXPECT_EQ(fused_kernels_avx512(width).backward != nullptr, made) << width;
#endif
  }
  training::Network odd({.width = 24, .steps = 1, .node_kinds = 3}, torch::kCPU);
  Rng rng(1, "odd");
  EXPECT_THROW(training::make_trainer(odd, test::synthetic_rules(2, rng), Engine::fused), NnError);
  NetworkConfig wide_head = test::hierarchical({.width = 32, .steps = 1, .node_kinds = 3}, 2);
  wide_head.head_width = 64;
  EXPECT_EQ(best_kernels(wide_head).forward, nullptr);
}

}  // namespace
}
