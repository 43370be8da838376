// One step of the recurrent mixture-density model and a draw from it: what a dream costs without its
// controller.
#include <benchmark/benchmark.h>

#include "core/nn/device.h"
#include "core/nn/internal/mdn_rnn.h"

namespace regraft::nn::internal {
namespace {

void dream_step(benchmark::State& state) {
  set_torch_threads(1);
  const torch::NoGradGuard no_grad;
  const std::int64_t batch = state.range(0);
  const DynamicsConfig config{.xfers = static_cast<std::uint32_t>(state.range(1))};
  MdnRnn model(config, torch::kCPU);
  model.load(initial_weights(config, 1));
  Rng rng(1, "dream bench");
  RecurrentState hidden = model.initial_state(batch);
  torch::Tensor z = torch::zeros({batch, config.latent});
  const torch::Tensor action = torch::zeros({batch, config.action});
  for (auto _ : state) z = sample(model.step(z, action, hidden), {}, rng);
  state.SetItemsProcessed(state.iterations() * batch);
}

// Latents alone, and with the heads of 200 rules.
BENCHMARK(dream_step)->ArgNames({"batch", "xfers"})->Args({1, 1})->Args({256, 1})->Args({256, 200});

}  // namespace
}  // namespace regraft::nn::internal
