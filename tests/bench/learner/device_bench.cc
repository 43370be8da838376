// Samples a second through one update of each phase of learning, by the size of its batches, on the device
// that REGRAFT_DEVICE names (default: cpu). Ends with an error where there is no such device.
#include <benchmark/benchmark.h>

#include <cstdlib>

#include "core/nn/inference/device.h"
#include "core/nn/synthetic_observation.h"
#include "core/nn/training/network.h"
#include "core/nn/training/trainer.h"
#include "learner/controller/controller_ppo.h"
#include "learner/ppo/ppo.h"
#include "tests/learner/world/synthetic_world.h"

namespace regraft::learner {
namespace {

std::string device() {
  const char* name = std::getenv("REGRAFT_DEVICE");
  return nn::resolve_device(name == nullptr ? "cpu" : name);
}

/// Steps on graphs of 300 nodes.
struct Steps {
  explicit Steps(int count) {
    constexpr int kEpisode = 8;
    for (int i = 0; i < count; ++i) {
      replay::Step& step = segment.steps.emplace_back();
      step.observation = test::synthetic_observation(size, rng);
      step.candidate = static_cast<std::uint32_t>(rng.below(step.observation.candidate_count()));
      step.log_probability = -5;
      step.reward = static_cast<float>(rng.uniform(-1, 1));
      step.terminated = i % kEpisode == kEpisode - 1;
    }
  }
  const test::SyntheticSize size{.nodes = 300, .rules = 30, .locations = 16, .kinds = graph::kOpKinds};
  Rng rng{1, "device bench"};
  const env::RuleFeatureTable rules = test::synthetic_rules(size.rules, rng);
  const nn::NetworkConfig network = nn::preset("gpu", graph::kOpKinds);
  replay::Segment segment;
};

/// The preset `gpu`; an item is a fresh step, through four epochs.
void ppo_on_device(benchmark::State& state, bool tf32) {
  const std::string on = device();
  nn::allow_tf32(tf32);
  const auto minibatch = static_cast<int>(state.range(0));
  const Steps steps(std::max(minibatch, 512));
  Ppo ppo(steps.network, nn::initial_weights(steps.network, 1), steps.rules, {.minibatch_steps = minibatch},
          on, 1);
  ppo.update(std::span(&steps.segment, 1));  // a device's libraries are loaded by the first one
  for (auto _ : state) benchmark::DoNotOptimize(ppo.update(std::span(&steps.segment, 1)));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(steps.segment.steps.size()));
  nn::allow_tf32(false);
}

/// What is done once an update: observations checked, joined and copied. An item is a step.
void load_on_device(benchmark::State& state) {
  const std::string on = device();
  const Steps steps(static_cast<int>(state.range(0)));
  nn::training::Network network(steps.network, torch::Device(on));
  const auto trainer = nn::training::make_trainer(network, steps.rules, nn::Engine::torch);
  std::vector<const env::Observation*> observations;
  for (const replay::Step& step : steps.segment.steps) observations.push_back(&step.observation);
  benchmark::DoNotOptimize(trainer->load(observations));
  for (auto _ : state) benchmark::DoNotOptimize(trainer->load(observations));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

/// A device works while the processor waits.
void by_the_clock(benchmark::internal::Benchmark* bench) {
  bench->UseRealTime()->Unit(benchmark::kMillisecond);
}

WorldOptions endless() {
  WorldOptions options;
  options.encoder_updates = options.dynamics_updates = options.evaluate_every = 1'000'000'000;
  return options;
}

void fit_on_device(benchmark::State& state, const WorldOptions& options, std::uint64_t samples) {
  test::SyntheticWorld world;
  replay::SequenceReplay replay({});
  world.collect(replay, 200);
  WorldFit fit(world.context(), replay, options, world.environment_of(), {.device = device()});
  fit.advance();
  for (auto _ : state) benchmark::DoNotOptimize(fit.advance());
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(samples));
}

/// An item is a state.
void encoder_on_device(benchmark::State& state) {
  WorldOptions options = endless();
  options.encoder_states = static_cast<std::uint64_t>(state.range(0));
  fit_on_device(state, options, options.encoder_states);
}

/// An item is a step of a sequence.
void dynamics_on_device(benchmark::State& state) {
  WorldOptions options = endless();
  options.encoder_updates = 0;
  options.lanes = static_cast<std::uint32_t>(state.range(0));
  fit_on_device(state, options, std::uint64_t{options.lanes} * options.time);
}

/// Steps of a controller on states of the default world model; an item is a fresh step, through four epochs.
void dream_on_device(benchmark::State& state) {
  constexpr std::uint32_t kEpisodes = 256, kSteps = 32, kRules = 60;
  const nn::ControllerConfig config{.kind = nn::ControllerKind::hierarchical,
                                    .state = 32 + 256,
                                    .rules = kRules,
                                    .locations = 200,
                                    .width = 64};
  Rng rng(1, "device bench");
  std::vector<replay::DreamSegment> segments(kEpisodes);
  for (std::uint32_t episode = 0; episode < kEpisodes; ++episode) {
    segments[episode].episode = episode;
    for (std::uint32_t t = 0; t < kSteps; ++t) {
      replay::DreamedStep& step = segments[episode].steps.emplace_back();
      for (std::uint32_t d = 0; d < config.state; ++d)
        step.state.push_back(static_cast<float>(rng.uniform(-1, 1)));
      for (std::uint16_t rule = 0; rule < kRules; rule += 5) step.legal.push_back(rule);
      step.legal.push_back(kRules - 1);
      step.rule = step.legal[rng.below(step.legal.size() - 1)];
      step.count = 20;
      step.location = static_cast<std::uint16_t>(rng.below(step.count));
      step.log_rule = step.log_location = -2.5F;
      step.reward = static_cast<float>(rng.uniform(-0.1, 0.1));
      step.terminated = t + 1 == kSteps;
    }
  }
  const PpoOptions options{.minibatch_steps = static_cast<int>(state.range(0))};
  ControllerPpo ppo(config, nn::initial_weights(config, 1), options, 1, device());
  ppo.update(segments);
  for (auto _ : state) benchmark::DoNotOptimize(ppo.update(segments));
  state.SetItemsProcessed(state.iterations() * kEpisodes * kSteps);
}

BENCHMARK_CAPTURE(ppo_on_device, float32, false)->Arg(64)->Arg(512)->Arg(2048)->Apply(by_the_clock);
BENCHMARK_CAPTURE(ppo_on_device, tf32, true)->Arg(512)->Arg(2048)->Apply(by_the_clock);
BENCHMARK(load_on_device)->Arg(512)->Arg(4096)->Apply(by_the_clock);
BENCHMARK(encoder_on_device)->Arg(128)->Arg(512)->Arg(2048)->Apply(by_the_clock);
BENCHMARK(dynamics_on_device)->Arg(24)->Arg(96)->Arg(384)->Apply(by_the_clock);
BENCHMARK(dream_on_device)->Arg(64)->Arg(512)->Arg(4096)->Apply(by_the_clock);

}  // namespace
}
