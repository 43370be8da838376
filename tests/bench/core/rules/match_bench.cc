#include <benchmark/benchmark.h>

#include "core/rules/match/match_index.h"
#include "core/rules/rewrite/cleanup.h"
#include "core/rules/rewrite/rewriter.h"
#include "tests/core/rules/model_zoo.h"

namespace regraft::rules {
namespace {

const RuleSet& shipped_rules() {
  static const RuleSet rules = RuleSet::load(std::string(REGRAFT_SOURCE_DIR) + "/configs/rules");
  return rules;
}

void make(int model, testing::GraphBuilder& b) {
  if (model == 0) testing::recurrent(b, 5, 8, 16);
  for (int i = 0; model == 1 && i < 12; ++i) testing::encoder(b, 17, 4, 8);
  for (int i = 0; model == 2 && i < 8; ++i) testing::convolutions(b);
  clean_up(b.graph());
}

/// Random rewrites with undo after every 30, index kept up to date and all matches listed after each: steps a
/// second.
void RandomSteps(benchmark::State& state) {
  testing::GraphBuilder b;
  make(static_cast<int>(state.range(0)), b);
  graph::Graph& graph = b.graph();
  graph.commit();
  MatchIndex index(shipped_rules(), graph);
  Rng rng(1, "steps");
  int depth = 0;
  for (auto _ : state) {
    std::vector<graph::NodeId> touched;
    if (depth == 30) {
      touched = graph.touched_since(0);
      graph.undo_to(0);
      depth = 0;
    } else {
      std::uint64_t number = rng.below(index.match_count());
      std::uint32_t rule = 0;
      while (number >= index.matches(rule).size()) number -= index.matches(rule++).size();
      const Match match = index.matches(rule)[number];
      const auto mark = graph.mark();
      apply(graph, shipped_rules(), match);
      touched = graph.touched_since(mark);
      ++depth;
    }
    index.update(touched);
    benchmark::DoNotOptimize(index.match_count());
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["nodes"] = static_cast<double>(graph.operation_count());
}
BENCHMARK(RandomSteps)->Arg(0)->Arg(1)->Arg(2)->Unit(benchmark::kMicrosecond);

void FullMatch(benchmark::State& state) {
  testing::GraphBuilder b;
  make(static_cast<int>(state.range(0)), b);
  for (auto _ : state) {
    const MatchIndex index(shipped_rules(), b.graph());
    benchmark::DoNotOptimize(index.match_count());
  }
}
BENCHMARK(FullMatch)->Arg(0)->Arg(1)->Arg(2)->Unit(benchmark::kMicrosecond);

}  // namespace
}
