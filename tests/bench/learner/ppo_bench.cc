// Fresh samples a second through one PPO update (four epochs, pi_prox included) on synthetic graphs of 300
// nodes.
#include <benchmark/benchmark.h>

#include "core/nn/device.h"
#include "learner/ppo.h"
#include "tests/core/nn/synthetic_observation.h"

namespace regraft::learner {
namespace {

void update(benchmark::State& state, const char* name, nn::Engine engine) {
  nn::set_torch_threads(1);
  Rng rng(1, "bench");
  const test::SyntheticSize size{.nodes = 300, .rules = 30, .locations = 16, .kinds = 80};
  replay::Segment segment;
  for (int i = 0; i < 64; ++i) {
    replay::Step step;
    step.observation = test::synthetic_observation(size, rng);
    step.candidate = static_cast<std::uint32_t>(rng.below(step.observation.candidate_count()));
    step.log_probability = -5;
    step.reward = static_cast<float>(rng.uniform(-1, 1));
    step.terminated = i % 8 == 7;
    segment.steps.push_back(std::move(step));
  }
  const auto config = nn::preset(name, 80);
  PpoOptions options;
  options.minibatch_steps = 16;
  Ppo ppo(config, nn::initial_weights(config, 1), test::synthetic_rules(size.rules, rng), options, "cpu", 1,
          engine);
  for (auto _ : state) benchmark::DoNotOptimize(ppo.update(std::span(&segment, 1)));
  state.SetItemsProcessed(state.iterations() * 64);
}

BENCHMARK_CAPTURE(update, cpu_torch, "cpu", nn::Engine::torch)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(update, cpu_automatic, "cpu", nn::Engine::automatic)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(update, gpu_torch, "gpu", nn::Engine::torch)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(update, gpu_automatic, "gpu", nn::Engine::automatic)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace regraft::learner
