#include "core/search/search_tree.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/rng.h"
#include "core/env/layered_world.h"
#include "core/graph/order.h"

namespace regraft::search {
namespace {

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

}  // namespace
}
