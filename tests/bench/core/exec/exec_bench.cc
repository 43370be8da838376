#include <benchmark/benchmark.h>

#include <cmath>
#include <vector>

#include "core/base/rng.h"
#include "core/exec/latency/speedup_estimate.h"
#include "core/exec/site/site_check.h"
#include "core/rules/match/match_index.h"
#include "core/rules/set/rule_set.h"

namespace regraft::exec {
namespace {

/// One re-association of x[197, k] w[k, k] v[k, k], checked with real weights.
void check_matmul_site(benchmark::State& state) {
  using graph::Value;
  const std::int64_t k = state.range(0);
  graph::Tables tables;
  graph::Graph graph(tables);
  const std::vector<float> ones(static_cast<std::size_t>(k * k), 0.5f);
  const auto square = tables.intern(graph::DType::float32, std::vector<std::int64_t>{k, k});
  const Value x{graph.add_input(tables.intern(graph::DType::float32, std::vector<std::int64_t>{197, k}), 0),
                0};
  const Value y{graph.add_input(square, 1), 0};
  const Value w = graph.weight_value(tables.weights().literal(square, std::as_bytes(std::span(ones))));
  const auto none = tables.intern(graph::AttrBlock{});
  const Value product{graph.add(graph::OpKind::matmul, none, std::vector<Value>{y, w}), 0};
  graph.add_output({graph.add(graph::OpKind::matmul, none, std::vector<Value>{x, product}), 0});
  const rules::RuleSet rules =
      rules::RuleSet::parse("assoc: MatMul(x, MatMul(y, z)) => MatMul(MatMul(x, y), z)\n", "bench");
  const graph::Graph before = graph;
  const rules::Match match = rules::MatchIndex(rules, graph).matches(0)[0];
  const rules::Rewrite rewrite = rules::apply(graph, rules, match);
  set_oracle_threads(1);
  for (auto _ : state) benchmark::DoNotOptimize(check_site(before, graph, rewrite, {}));
}
BENCHMARK(check_matmul_site)->Arg(64)->Arg(512)->Unit(benchmark::kMillisecond);

/// The statistics of one acceptance: the bootstrap interval and the control.
void judge_sessions(benchmark::State& state) {
  Rng rng(1, "bench");
  std::vector<double> before(static_cast<std::size_t>(state.range(0))), after(before.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    before[i] = std::exp(0.01 * rng.normal());
    after[i] = std::exp(0.01 * rng.normal());
  }
  for (auto _ : state)
    benchmark::DoNotOptimize(judge(estimate_speedup(before, after, rng), control_spread(before, rng)));
}
BENCHMARK(judge_sessions)->Arg(10)->Arg(20)->Unit(benchmark::kMillisecond);

}  // namespace
}
