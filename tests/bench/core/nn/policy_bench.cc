// Policy forward passes on a synthetic graph of 300 nodes: one at a time and in batches, by preset and
// engine.
#include <benchmark/benchmark.h>

#include "core/nn/inference/device.h"
#include "core/nn/inference/policy.h"
#include "core/nn/synthetic_observation.h"

namespace regraft::nn {
namespace {

void forward(benchmark::State& state, const char* name, Engine engine) {
  set_torch_threads(1);
  Rng rng(1, "bench");
  const test::SyntheticSize size{.nodes = 300, .rules = 30, .locations = 16, .kinds = 80};
  std::vector<env::Observation> observations;
  for (std::int64_t i = 0; i < state.range(0); ++i)
    observations.push_back(test::synthetic_observation(size, rng));
  const NetworkConfig config = preset(name, 80);
  Policy policy(config, initial_weights(config, 1), test::synthetic_rules(size.rules, rng),
                {.device = "cpu", .engine = engine});
  const auto list = test::pointers(observations);
  for (auto _ : state) benchmark::DoNotOptimize(policy.evaluate(list));
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.SetLabel(policy.description());
}

BENCHMARK_CAPTURE(forward, cpu_torch, "cpu", Engine::torch)->Arg(1)->Arg(16);
BENCHMARK_CAPTURE(forward, cpu_automatic, "cpu", Engine::automatic)->Arg(1)->Arg(16);
BENCHMARK_CAPTURE(forward, gpu_torch, "gpu", Engine::torch)->Arg(1)->Arg(16);
BENCHMARK_CAPTURE(forward, gpu_automatic, "gpu", Engine::automatic)->Arg(1)->Arg(16);

}  // namespace
}
