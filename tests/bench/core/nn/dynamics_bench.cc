// One step of the recurrent mixture-density model and a draw from it: what a dream costs without its
// controller, in LibTorch and in own kernels.
#include <benchmark/benchmark.h>

#include <numeric>

#include "core/nn/fused/dream_engine.h"
#include "core/nn/inference/device.h"
#include "core/nn/training/mdn_rnn.h"

namespace regraft::nn::training {
namespace {

DynamicsConfig config_of(const benchmark::State& state) {
  return {.rules = static_cast<std::uint32_t>(state.range(1))};
}

void dream_step_torch(benchmark::State& state) {
  set_torch_threads(1);
  const torch::NoGradGuard no_grad;
  const std::int64_t batch = state.range(0);
  const DynamicsConfig config = config_of(state);
  MdnRnn model(config, torch::kCPU);
  model.load(initial_weights(config, 1));
  Rng rng(1, "dream bench");
  RecurrentState hidden = model.initial_state(batch);
  torch::Tensor z = torch::zeros({batch, config.latent});
  const torch::Tensor action = torch::zeros({batch, config.action});
  for (auto _ : state) z = sample(model.step(z, action, hidden), {}, rng);
  state.SetItemsProcessed(state.iterations() * batch);
}

void dream_step_fused(benchmark::State& state) {
  const auto batch = static_cast<std::uint32_t>(state.range(0));
  const DynamicsConfig config = config_of(state);
  internal::DreamEngine engine(config);
  engine.load(initial_weights(config, 1));
  engine.set_replicas(batch);
  std::vector<std::uint32_t> rows(batch);
  std::iota(rows.begin(), rows.end(), 0);
  std::vector<Rng> streams;
  for (std::uint32_t row : rows) streams.emplace_back(row, "dream bench");
  for (auto _ : state) {
    engine.advance(rows);
    engine.read_heads(rows);
    engine.sample(rows, {}, streams);
  }
  state.SetItemsProcessed(state.iterations() * batch);
}

// Latents alone, and with the heads of 200 rules.
BENCHMARK(dream_step_torch)->ArgNames({"batch", "rules"})->Args({1, 1})->Args({256, 1})->Args({256, 200});
BENCHMARK(dream_step_fused)->ArgNames({"batch", "rules"})->Args({1, 1})->Args({256, 1})->Args({256, 200});

}  // namespace
}
