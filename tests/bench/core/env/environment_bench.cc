#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <set>

#include "core/base/rng.h"
#include "core/env/synthetic.h"
#include "core/rules/model_zoo.h"
#include "support/model_world.h"

namespace regraft::env {
namespace {

using regraft::testing::ModelWorld;

const std::string kRoot = REGRAFT_SOURCE_DIR;
constexpr std::array kModels = {"bert_base", "inception_v3",    "nasrnn",        "resnet18",
                                "resnet50",  "resnext50_32x4d", "squeezenet1_1", "vit_b_16"};

const rules::RuleSet& shipped() {
  static const rules::RuleSet rules = rules::RuleSet::load(kRoot + "/configs/rules");
  return rules;
}

const cost::CostFactory& costs() {
  static const cost::AnalyticFactory factory(cost::load_device(kRoot + "/configs/devices/cpu-1core.toml"));
  return factory;
}

/// Steps of a random legal policy, masks, costs, observations and resets included. Items are steps.
void walk(benchmark::State& bench, const graph::Graph& start, const rules::RuleSet& rules,
          const cost::CostFactory& factory) {
  const SystemClock clock;
  Environment env(start, rules, factory, {}, clock);
  Rng rng(1, "bench");
  std::uint64_t episode = 0;
  double candidates = 0;
  for (auto _ : bench) {
    if (env.done()) env.reset(++episode);
    const std::size_t legal = env.observation().candidate_count() - 1;
    benchmark::DoNotOptimize(env.step_candidate(legal == 0 ? 0 : rng.below(legal)).reward);
    candidates += static_cast<double>(env.observation().candidate_count());
  }
  bench.SetItemsProcessed(bench.iterations());
  bench.counters["rules"] = static_cast<double>(rules.size());
  bench.counters["nodes"] = static_cast<double>(env.observation().node_count());
  bench.counters["candidates"] = benchmark::Counter(candidates, benchmark::Counter::kAvgIterations);
}

void model_steps(benchmark::State& bench) {
  const std::string name = kModels[static_cast<std::size_t>(bench.range(0))];
  const ModelWorld world(name);
  bench.SetLabel(name);
  walk(bench, world.start, world.rules, world.costs);
}
BENCHMARK(model_steps)->DenseRange(0, kModels.size() - 1)->Unit(benchmark::kMicrosecond);

/// `count` rules: every n-th of those shipped, or all of them and then renamed copies.
rules::RuleSet rules_of(std::size_t count) {
  std::vector<std::string> texts;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < shipped().size(); ++i) {
    if (seen.insert(shipped().info(i).text).second) texts.push_back(shipped().info(i).text);
  }
  std::string text;
  std::size_t made = 0;
  for (std::size_t copy = 0; made < count; ++copy) {
    const std::size_t stride = copy == 0 ? std::max<std::size_t>(1, texts.size() / count) : 1;
    for (std::size_t i = 0; i < texts.size() && made < count; i += stride, ++made)
      text += (copy == 0 ? "" : "again-" + std::to_string(copy) + "-") + texts[i] + "\n";
  }
  return rules::RuleSet::parse(text, "bench");
}

void steps_by_rule_count(benchmark::State& bench) {
  const ModelWorld world("resnet50");
  walk(bench, world.start, rules_of(static_cast<std::size_t>(bench.range(0))), costs());
}
BENCHMARK(steps_by_rule_count)->Arg(30)->Arg(75)->Arg(150)->Arg(300)->Unit(benchmark::kMicrosecond);

/// Thirty rules, and others that are tried as often as they are shipped and match nothing: candidates stay.
void steps_by_idle_rule_count(benchmark::State& bench) {
  constexpr std::size_t kBase = 30;
  const ModelWorld world("resnet50");
  const rules::RuleSet base = rules_of(kBase);
  std::string text;
  for (std::size_t i = 0; i < base.size(); ++i) text += base.info(i).text + "\n";
  std::set<std::string> seen;
  std::size_t made = base.size();
  const auto wanted = static_cast<std::size_t>(bench.range(0));
  for (std::size_t copy = 0; made < wanted; ++copy) {
    seen.clear();
    for (std::size_t i = 0; i < shipped().size() && made < wanted; ++i) {
      std::string idle = shipped().info(i).text;
      if (!seen.insert(idle).second) continue;
      idle.insert(idle.find("=>"), ", 1 == 2 ");
      text += "idle-" + std::to_string(copy) + "-" + idle + "\n";
      ++made;
    }
  }
  walk(bench, world.start, rules::RuleSet::parse(text, "bench"), world.costs);
}
BENCHMARK(steps_by_idle_rule_count)->Arg(30)->Arg(75)->Arg(150)->Arg(300)->Unit(benchmark::kMicrosecond);

/// Encoder layers side by side: what a step touches stays the same.
void grow_to(rules::testing::GraphBuilder& builder, std::int64_t nodes) {
  while (builder.graph().operation_count() < static_cast<std::size_t>(nodes))
    rules::testing::encoder(builder, 17, 4, 8);
  builder.graph().commit();
}

void steps_by_graph_size(benchmark::State& bench) {
  rules::testing::GraphBuilder builder;
  grow_to(builder, bench.range(0));
  walk(bench, builder.graph(), shipped(), costs());
}
BENCHMARK(steps_by_graph_size)
    ->Arg(100)
    ->Arg(300)
    ->Arg(1000)
    ->Arg(2500)
    ->Arg(5000)
    ->Unit(benchmark::kMicrosecond);

/// Seconds of each part of a step.
struct Parts {
  double rewrite = 0, cost = 0, match = 0;    // around the edit
  double memory = 0, order = 0, observe = 0;  // passes over the graph: peak memory; canonical order, cycles
                                              // and lists of candidates; observation with masks
  double around_edit() const { return rewrite + cost + match; }
  double all() const { return around_edit() + memory + order + observe; }
};

/// Adds the CPU time that `work` takes: a busy machine does not lengthen it.
template <typename Work>
void timed(double& total, Work&& work) {
  const std::clock_t start = std::clock();
  work();
  total += static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

/// One step of a random legal policy, part by part as Environment takes it. Not inlined, so that profilers
/// can be told to collect here.
[[gnu::noinline]] void step_in_parts(RewriteState& state, ObservationWriter& writer,
                                     const cost::Cost& initial, std::size_t horizon, Rng& rng,
                                     Observation& seen, Parts& parts) {
  const std::size_t legal = seen.candidate_count() - 1;
  timed(parts.rewrite, [&] {
    if (legal == 0 || state.depth() == horizon) return state.rewind_to(0);
    const std::size_t candidate = rng.below(legal);
    state.apply(state.index().matches(seen.candidate_rules[candidate])[seen.candidate_locations[candidate]]);
  });
  timed(parts.cost, [&] { state.cost_model(); });
  timed(parts.memory, [&] { state.cost(); });
  timed(parts.match, [&] { state.index(); });
  timed(parts.order, [&] { state.index().match_count(); });
  timed(parts.observe, [&] { writer.write(state, {initial, 1, 100, 200}, seen); });
}

/// The share of a step that is none of the passes over the graph, by nodes and rewrites an episode: many of
/// them use a small graph up, so that less is left to match.
void parts_by_graph_size(benchmark::State& bench) {
  rules::testing::GraphBuilder builder;
  grow_to(builder, bench.range(0));
  RewriteState state(builder.graph(), shipped(), costs());
  ObservationWriter writer(builder.tables(), {});
  const cost::Cost initial = state.cost();
  Observation seen;
  writer.write(state, {initial, 0, 100, 200}, seen);
  Rng rng(1, "bench");
  Parts parts;
  const auto horizon = static_cast<std::size_t>(bench.range(1));
  for (auto _ : bench) step_in_parts(state, writer, initial, horizon, rng, seen, parts);
  bench.SetItemsProcessed(bench.iterations());
  const auto each_us = [&](double seconds) {
    return benchmark::Counter(seconds * 1e6, benchmark::Counter::kAvgIterations);
  };
  bench.counters["nodes"] = static_cast<double>(seen.node_count());
  bench.counters["rewrite_us"] = each_us(parts.rewrite);
  bench.counters["cost_us"] = each_us(parts.cost);
  bench.counters["match_us"] = each_us(parts.match);
  bench.counters["memory_us"] = each_us(parts.memory);
  bench.counters["order_us"] = each_us(parts.order);
  bench.counters["observe_us"] = each_us(parts.observe);
  bench.counters["around_edit_us"] = each_us(parts.around_edit());
  bench.counters["around_edit_share"] = parts.around_edit() / parts.all();
}
BENCHMARK(parts_by_graph_size)
    ->ArgsProduct({{100, 300, 1000, 2500, 5000}, {3, 100}})
    ->Iterations(1000)  // the same steps whatever the machine
    ->Unit(benchmark::kMicrosecond);

void synthetic_steps(benchmark::State& bench) {
  const SyntheticOptions options{
      .chains = static_cast<std::uint32_t>(bench.range(0)), .valley = 2, .seed = 1};
  const SyntheticTask task = make_synthetic_task(options);
  walk(bench, *task.start, make_synthetic_rules(options.valley), make_synthetic_costs(options.rise_us));
}
BENCHMARK(synthetic_steps)->Arg(10)->Arg(100)->Unit(benchmark::kMicrosecond);

/// Candidates costed by apply, cost and undo. Items are candidates.
void peeked_candidates(benchmark::State& bench) {
  const SyntheticTask task =
      make_synthetic_task({.chains = static_cast<std::uint32_t>(bench.range(0)), .seed = 1});
  const rules::RuleSet rules = make_synthetic_rules(1);
  const TableCostFactory table = make_synthetic_costs(1.0);
  RewriteState state(*task.start, rules, table);
  const auto matches = state.index().matches(0);
  std::size_t next = 0;
  for (auto _ : bench) benchmark::DoNotOptimize(state.peek_latency_us(matches[next++ % matches.size()]));
  bench.SetItemsProcessed(bench.iterations());
}
BENCHMARK(peeked_candidates)->Arg(10)->Arg(100)->Unit(benchmark::kMicrosecond);

}  // namespace
}
