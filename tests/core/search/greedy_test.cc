#include "core/search/greedy.h"

#include <gtest/gtest.h>

#include <array>

#include "core/base/rng.h"
#include "core/env/rewrite_state.h"
#include "core/env/table_cost_factory.h"
#include "support/manual_clock.h"

namespace regraft::search {
namespace {

// Six thousand Negs: three thousand rewrites, each of which may take another one's place away.
TEST(Greedy, TakesAllThatPaysOfALargeGraphAtOnce) {
  graph::Tables tables;
  graph::Graph graph(tables);
  graph::Value x{graph.add_input(tables.intern(graph::DType::float32, std::array{graph::Dim{3}}), 0), 0};
  const graph::AttrId none = tables.intern(graph::AttrBlock{});
  for (int i = 0; i < 6000; ++i) x = {graph.add(graph::OpKind::neg, none, std::array{x}), 0};
  graph.add_output(x);
  graph.commit();
  env::TableCostFactory::Table table{};
  table[static_cast<std::size_t>(graph::OpKind::neg)] = 1;
  const env::TableCostFactory costs(table);
  const rules::RuleSet rules = rules::RuleSet::parse("twice: Neg(Neg(x)) => x\n", "twice.rules");
  const ManualClock clock;
  Rng rng(1, "search");
  const SearchResult result = make_greedy()->run({graph, rules, costs}, {}, rng, {clock});
  EXPECT_EQ(result.best.latency_us, 0);
  EXPECT_EQ(result.path.size(), 3000u);
  EXPECT_LT(result.expansions, 30u);
  EXPECT_EQ(result.refused, 0u) << result.first_refusal;
  EXPECT_EQ(costs.make(env::replay(graph, rules, result.path))->cost().latency_us, 0);
}

}  // namespace
}
