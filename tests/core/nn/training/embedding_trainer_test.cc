#include "core/nn/training/embedding_trainer.h"

#include <gtest/gtest.h>

#include "core/nn/inference/device.h"
#include "core/nn/model/weights.h"
#include "core/nn/synthetic_observation.h"

namespace regraft::nn::training {
namespace {

constexpr std::uint64_t kSeed = 714;

TEST(EmbeddingTrainer, KernelsAndAutogradAgreeForwardAndBack) {
  SCOPED_TRACE(kSeed);
  for (const int threads : {1, 2}) {
    set_torch_threads(threads);
    for (const std::uint32_t width : {16u, 32u}) {
      const NetworkConfig config{.width = width, .steps = 2, .node_kinds = 20};
      Rng rng(kSeed, "embedding trainer");
      std::vector<env::Observation> graphs;
      for (std::size_t i = 0; i < 5; ++i)
        graphs.push_back(test::synthetic_observation({.nodes = 1 + 7 * i}, rng));
      const Weights weights = initial_weights(config, kSeed);
      std::vector<float> seeds(5 * std::size_t{width});
      for (float& seed : seeds) seed = static_cast<float>(rng.uniform(-1, 1));
      const torch::Tensor upstream = torch::from_blob(seeds.data(), {5, std::int64_t{width}});
      std::vector<torch::Tensor> rows;
      std::vector<std::vector<float>> gradients;
      for (const Engine engine : {Engine::torch, Engine::fused}) {
        const auto trainer = make_embedding_trainer(config, torch::kCPU, engine);
        const torch::Tensor flat = torch::tensor(weights.values);
        gradients.emplace_back(weights.values.size(), 0.5f);  // added to, not overwritten
        for (int pass = 0; pass < 2; ++pass) {                // a second pass owes nothing to the first
          std::fill(gradients.back().begin(), gradients.back().end(), 0.5f);
          const torch::Tensor leaf = trainer->forward(test::pointers(graphs), flat);
          if (pass == 1) rows.push_back(leaf.detach().clone());
          (leaf * upstream).sum().backward();
          trainer->backward(torch::from_blob(gradients.back().data(), {flat.numel()}));
        }
      }
      EXPECT_TRUE(torch::allclose(rows[0], rows[1], 1e-4, 1e-5));
      float largest = 0;
      for (std::size_t i = 0; i < gradients[0].size(); ++i) {
        const float scale = 1 + std::abs(gradients[0][i]);
        EXPECT_NEAR(gradients[0][i], gradients[1][i], 2e-4 * scale) << i;
        largest = std::max(largest, std::abs(gradients[0][i] - 0.5f));
      }
      EXPECT_GT(largest, 0.1f) << "the comparison must compare something";
    }
  }
  set_torch_threads(1);
}

}  // namespace
}
