// What an actor does, without the wire: steps of a policy on real models, by preset and head. Observation,
// inference, draw, rewrite, reward, and segments encoded. Items are policy steps.
#include <benchmark/benchmark.h>

#include <array>

#include "core/env/rule_features.h"
#include "core/graph/op.h"
#include "core/nn/inference/device.h"
#include "core/nn/inference/policy.h"
#include "core/task/workload.h"
#include "replay/rollout/segment_codec.h"
#include "support/models.h"

namespace regraft::actors {
namespace {

const std::string kRoot = REGRAFT_SOURCE_DIR;
constexpr std::array kModels = {"resnet50", "nasrnn", "bert_base"};

struct World {
  explicit World(const char* model) {
    options.models = {regraft::testing::unpacked_model(model).string()};
    options.rules = kRoot + "/configs/rules";
    options.device = kRoot + "/configs/devices/cpu-1core.toml";
    options.environment.horizon = 50;
    task = task::load_task(options, 0);
  }
  task::WorkloadOptions options;
  std::unique_ptr<task::Task> task;
};

nn::NetworkConfig network(const char* preset, nn::Head head, std::size_t rules) {
  nn::NetworkConfig config = nn::preset(preset, graph::kOpKinds);
  config.head = head;
  if (head == nn::Head::hierarchical) config.rules = static_cast<std::uint32_t>(rules + 1);
  return config;
}

void policy_steps(benchmark::State& bench, const char* preset, nn::Head head) {
  nn::set_torch_threads(1);
  const World world(kModels[static_cast<std::size_t>(bench.range(0))]);
  const SystemClock clock;
  env::Environment env = task::make_environment(*world.task, world.options, clock);
  const nn::NetworkConfig config = network(preset, head, world.task->rules().size());
  nn::Policy policy(config, nn::initial_weights(config, 1), env::make_rule_features(world.task->rules()),
                    {.device = "cpu"});
  Rng rng(1, "policy steps");
  replay::Segment segment;
  segment.hierarchical = head == nn::Head::hierarchical;
  std::uint64_t episodes = 0;
  for (auto _ : bench) {
    if (env.done()) env.reset(++episodes);
    replay::Step step;
    step.observation = env.observation();
    const nn::Evaluation said = policy.evaluate(step.observation);
    nn::Choice choice = nn::sample(said, rng);
    // An untrained policy stops early and often; episodes of a trained one are long.
    while (step.observation.candidate_count() > 1 &&
           choice.candidate + 1 == step.observation.candidate_count())
      choice = nn::sample(said, rng);
    step.candidate = choice.candidate;
    step.log_probability = choice.log_probability;
    step.location_log_probability = choice.location_log_probability;
    step.reward = static_cast<float>(env.step_candidate(choice.candidate).reward);
    segment.steps.push_back(std::move(step));
    if (!env.done() && segment.steps.size() < replay::kMaxSegmentSteps) continue;
    benchmark::DoNotOptimize(replay::encode_segment(segment));
    segment.steps.clear();
  }
  bench.SetItemsProcessed(bench.iterations());
  bench.SetLabel(std::string(kModels[static_cast<std::size_t>(bench.range(0))]) + ", " +
                 policy.description());
}

/// The inference in it.
void policy_evaluations(benchmark::State& bench, const char* preset, nn::Head head) {
  nn::set_torch_threads(1);
  const World world(kModels[static_cast<std::size_t>(bench.range(0))]);
  const SystemClock clock;
  const env::Environment env = task::make_environment(*world.task, world.options, clock);
  const nn::NetworkConfig config = network(preset, head, world.task->rules().size());
  nn::Policy policy(config, nn::initial_weights(config, 1), env::make_rule_features(world.task->rules()),
                    {.device = "cpu"});
  for (auto _ : bench) benchmark::DoNotOptimize(policy.evaluate(env.observation()));
  bench.SetItemsProcessed(bench.iterations());
  bench.counters["nodes"] = static_cast<double>(env.observation().node_count());
  bench.counters["candidates"] = static_cast<double>(env.observation().candidate_count());
}

BENCHMARK_CAPTURE(policy_steps, cpu_pointer, "cpu", nn::Head::pointer)->DenseRange(0, 2);
BENCHMARK_CAPTURE(policy_steps, cpu_hierarchical, "cpu", nn::Head::hierarchical)->DenseRange(0, 2);
BENCHMARK_CAPTURE(policy_steps, gpu_pointer, "gpu", nn::Head::pointer)->DenseRange(0, 2);
BENCHMARK_CAPTURE(policy_steps, gpu_hierarchical, "gpu", nn::Head::hierarchical)->DenseRange(0, 2);
BENCHMARK_CAPTURE(policy_evaluations, cpu_pointer, "cpu", nn::Head::pointer)->DenseRange(0, 2);
BENCHMARK_CAPTURE(policy_evaluations, cpu_hierarchical, "cpu", nn::Head::hierarchical)->DenseRange(0, 2);
BENCHMARK_CAPTURE(policy_evaluations, gpu_pointer, "gpu", nn::Head::pointer)->DenseRange(0, 2);
BENCHMARK_CAPTURE(policy_evaluations, gpu_hierarchical, "gpu", nn::Head::hierarchical)->DenseRange(0, 2);

}  // namespace
}
