// What searches remember, and how they get along with less.
#include <gtest/gtest.h>

#include "core/base/rng.h"
#include "core/env/layered_world.h"
#include "core/graph/order.h"
#include "core/search/greedy.h"
#include "core/search/search_tree.h"
#include "core/search/visited_graphs.h"

namespace regraft::search {
namespace {

Hash128 hash_of(std::uint64_t number) {
  Hasher hasher(1);
  hasher.add(number);
  return hasher.finish();
}

TEST(VisitedGraphs, KnowsAllWhileThereIsRoom) {
  VisitedGraphs visited;
  EXPECT_TRUE(visited.insert({}));
  EXPECT_FALSE(visited.insert({}));
  for (std::uint64_t i = 0; i < 10'000; ++i) EXPECT_TRUE(visited.insert(hash_of(i)));
  for (std::uint64_t i = 0; i < 10'000; ++i) EXPECT_FALSE(visited.insert(hash_of(i)));
  EXPECT_EQ(visited.inserted(), 10'001u);
  EXPECT_FALSE(visited.contains(hash_of(10'000)));
  EXPECT_TRUE(visited.erase(hash_of(7)));
  EXPECT_FALSE(visited.erase(hash_of(7)));
  EXPECT_FALSE(visited.contains(hash_of(7)));
}

TEST(VisitedGraphs, StaysWithinItsBoundAndKnowsTheLatest) {
  constexpr std::size_t kBytes = 1 << 14;
  VisitedGraphs visited(kBytes);
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    EXPECT_TRUE(visited.insert(hash_of(i)));
    EXPECT_TRUE(visited.contains(hash_of(i)));
  }
  EXPECT_EQ(visited.size_bytes(), kBytes);
  std::uint64_t known = 0;
  for (std::uint64_t i = 0; i < 100'000; ++i) known += visited.contains(hash_of(i)) ? 1 : 0;
  EXPECT_EQ(known, kBytes / sizeof(Hash128));
}

TEST(SearchTree, LeadsToWhatIsKeptWhateverIsForgotten) {
  const env::TableCostFactory costs = env::LayeredWorld::costs();
  for (const std::uint64_t seed : {1, 2, 3}) {
    const env::LayeredWorld world(seed);
    env::RewriteState state(world.graph, world.rules, costs);
    SearchTree tree(state);
    Rng rng(seed, "tree");
    std::vector<std::pair<SearchTree::Id, Hash128>> graphs{{0, graph::structural_hash(state.graph())}};
    for (int i = 0; i < 200; ++i) {
      const SearchTree::Id parent = graphs[rng.below(graphs.size())].first;
      tree.go_to(parent);
      const std::size_t matches = state.index().match_count();
      if (matches == 0 || state.depth() > 8) continue;
      std::size_t chosen = rng.below(matches);
      std::uint32_t rule = 0;
      for (; chosen >= state.index().matches(rule).size(); ++rule)
        chosen -= state.index().matches(rule).size();
      const SearchTree::Id id = tree.add(parent, state.index().matches(rule)[chosen]);
      tree.go_to(id);
      graphs.emplace_back(id, graph::structural_hash(state.graph()));
    }
    std::vector<SearchTree::Id> wanted;
    std::vector<Hash128> hashes;
    for (const auto& [id, hash] : graphs)
      if (rng.below(4) == 0) wanted.push_back(id), hashes.push_back(hash);
    const std::size_t before = tree.size();
    const std::vector<SearchTree::Id> kept = tree.keep(wanted);
    EXPECT_LT(tree.size(), before);
    EXPECT_TRUE(std::ranges::is_sorted(kept));
    for (std::size_t i = 0; i < kept.size(); ++i) {
      tree.go_to(kept[i]);
      EXPECT_EQ(graph::structural_hash(state.graph()), hashes[i]);
    }
  }
}

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
}  // namespace regraft::search
