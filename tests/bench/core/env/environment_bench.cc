#include <benchmark/benchmark.h>

#include "core/base/clock.h"
#include "core/base/rng.h"
#include "core/env/environment.h"
#include "core/env/synthetic.h"

namespace regraft::env {
namespace {

/// Steps of a random legal policy, masks, costs and observations included. Items are steps.
void random_steps(benchmark::State& bench) {
  const SyntheticOptions options{
      .chains = static_cast<std::uint32_t>(bench.range(0)), .valley = 2, .seed = 1};
  const SyntheticTask task = make_synthetic_task(options);
  const rules::RuleSet rules = make_synthetic_rules(options.valley);
  const TableCostFactory costs = make_synthetic_costs(options.rise_us);
  const SystemClock clock;
  Environment env(*task.start, rules, costs, {}, clock);
  Rng rng(1, "bench");
  std::uint64_t episode = 0;
  for (auto _ : bench) {
    if (env.done()) env.reset(++episode);
    const std::size_t legal = env.observation().candidate_count() - 1;
    benchmark::DoNotOptimize(env.step_candidate(legal == 0 ? 0 : rng.below(legal)).reward);
  }
  bench.SetItemsProcessed(bench.iterations());
  bench.counters["nodes"] = static_cast<double>(env.observation().node_count());
}
BENCHMARK(random_steps)->Arg(10)->Arg(100)->Unit(benchmark::kMicrosecond);

/// Candidates costed by apply, cost and undo. Items are candidates.
void peeked_candidates(benchmark::State& bench) {
  const SyntheticTask task =
      make_synthetic_task({.chains = static_cast<std::uint32_t>(bench.range(0)), .seed = 1});
  const rules::RuleSet rules = make_synthetic_rules(1);
  const TableCostFactory costs = make_synthetic_costs(1.0);
  RewriteState state(*task.start, rules, costs);
  const auto matches = state.index().matches(0);
  std::size_t next = 0;
  for (auto _ : bench) benchmark::DoNotOptimize(state.peek_cost(matches[next++ % matches.size()]).latency_us);
  bench.SetItemsProcessed(bench.iterations());
}
BENCHMARK(peeked_candidates)->Arg(10)->Arg(100)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace regraft::env
