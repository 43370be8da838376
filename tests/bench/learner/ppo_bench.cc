// Fresh samples a second through one PPO update (four epochs, pi_prox included): of random legal walks on
// ResNet-50, and of synthetic graphs of 300 nodes with many candidates.
#include <benchmark/benchmark.h>

#include "core/env/rule_features.h"
#include "core/nn/inference/device.h"
#include "core/nn/synthetic_observation.h"
#include "learner/ppo/ppo.h"
#include "tests/support/model_world.h"

namespace regraft::learner {
namespace {

constexpr int kSteps = 256;

struct Samples {
  replay::Segment segment;
  env::RuleFeatureTable rules;
};

replay::Step step_of(const env::Observation& observation, std::uint32_t candidate) {
  replay::Step step;
  step.observation = observation;
  step.candidate = candidate;
  step.log_probability = -5;
  return step;
}

Samples synthetic_samples() {
  Rng rng(1, "bench");
  const test::SyntheticSize size{.nodes = 300, .rules = 30, .locations = 16, .kinds = graph::kOpKinds};
  Samples samples{{}, test::synthetic_rules(size.rules, rng)};
  for (int i = 0; i < kSteps; ++i) {
    const env::Observation observation = test::synthetic_observation(size, rng);
    replay::Step step =
        step_of(observation, static_cast<std::uint32_t>(rng.below(observation.candidate_count())));
    step.reward = static_cast<float>(rng.uniform(-1, 1));
    step.terminated = i % 8 == 7;
    samples.segment.steps.push_back(std::move(step));
  }
  return samples;
}

Samples resnet50_samples() {
  const regraft::testing::ModelWorld world("resnet50");
  env::Environment environment = world.make({.horizon = 50});
  Rng rng(1, "bench");
  Samples samples{{}, env::make_rule_features(world.rules)};
  for (int i = 0; i < kSteps; ++i) {
    if (environment.done()) environment.reset(static_cast<std::uint64_t>(i));
    const std::size_t legal = environment.observation().candidate_count() - 1;
    replay::Step step =
        step_of(environment.observation(), static_cast<std::uint32_t>(legal == 0 ? 0 : rng.below(legal)));
    step.reward = static_cast<float>(environment.step_candidate(step.candidate).reward);
    step.terminated = environment.done();
    samples.segment.steps.push_back(std::move(step));
  }
  return samples;
}

void update(benchmark::State& state, const char* name, const Samples& samples, nn::Engine engine) {
  nn::set_torch_threads(1);
  const auto config = nn::preset(name, graph::kOpKinds);
  Ppo ppo(config, nn::initial_weights(config, 1), samples.rules, PpoOptions{}, "cpu", 1, engine);
  for (auto _ : state) benchmark::DoNotOptimize(ppo.update(std::span(&samples.segment, 1)));
  state.SetItemsProcessed(state.iterations() * kSteps);
}

void synthetic(benchmark::State& state, const char* name, nn::Engine engine) {
  static const Samples samples = synthetic_samples();
  update(state, name, samples, engine);
}
void resnet50(benchmark::State& state, const char* name, nn::Engine engine) {
  static const Samples samples = resnet50_samples();
  update(state, name, samples, engine);
}

BENCHMARK_CAPTURE(resnet50, cpu_torch, "cpu", nn::Engine::torch)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(resnet50, cpu_automatic, "cpu", nn::Engine::automatic)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(resnet50, gpu_torch, "gpu", nn::Engine::torch)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(resnet50, gpu_automatic, "gpu", nn::Engine::automatic)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(synthetic, cpu_torch, "cpu", nn::Engine::torch)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(synthetic, cpu_automatic, "cpu", nn::Engine::automatic)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(synthetic, gpu_torch, "gpu", nn::Engine::torch)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(synthetic, gpu_automatic, "gpu", nn::Engine::automatic)->Unit(benchmark::kMillisecond);

}  // namespace
}
