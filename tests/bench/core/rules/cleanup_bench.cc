// Clean-up of long chains: Neg, Relu and Neg, Neg in turns, so that a third of the pairs goes; and the same
// of Transposes, which rules merge.
#include <benchmark/benchmark.h>

#include "core/graph/graph_builder.h"
#include "core/rules/rewrite/cleanup.h"

namespace regraft::rules {
namespace {

const RuleSet& shipped() {
  static const RuleSet rules = RuleSet::load(std::string(REGRAFT_SOURCE_DIR) + "/configs/rules");
  return rules;
}

void make_chain(std::int64_t nodes, bool moves, graph::GraphBuilder& b) {
  const graph::AttrBlock turn{{graph::Attr::perm, graph::Ints{1, 2, 0}}};
  graph::Value x = b.input({2, 3, 4});
  for (std::int64_t i = 0; i < nodes / 2; ++i) {
    x = moves ? b.op(graph::OpKind::transpose, {x}, turn) : b.op(graph::OpKind::neg, {x});
    const bool pair = i % 3 == 0;
    x = moves && pair ? b.op(graph::OpKind::transpose, {x}, turn)
                      : b.op(pair ? graph::OpKind::neg : graph::OpKind::relu, {x});
  }
  b.output(x);
}

void CleanUp(benchmark::State& state, bool moves) {
  graph::GraphBuilder b;
  make_chain(state.range(0), moves, b);
  const graph::Graph before = b.graph();
  std::size_t steps = 0;
  for (auto _ : state) {
    graph::Graph graph = before;
    steps = clean_up(graph, shipped()).size();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.counters["steps"] = static_cast<double>(steps);
}
BENCHMARK_CAPTURE(CleanUp, pairs, false)->Arg(1000)->Arg(20'000)->Arg(100'000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(CleanUp, transposes, true)
    ->Arg(1000)
    ->Arg(20'000)
    ->Arg(100'000)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}
