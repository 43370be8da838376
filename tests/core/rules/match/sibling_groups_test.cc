#include "core/rules/match/sibling_groups.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "core/graph/canonical_order.h"
#include "core/rules/graph_builder.h"
#include "core/rules/match/match_index.h"

// The sets of siblings that are offered, against a plain reading of what sibling_groups.h promises.

namespace regraft::rules {
namespace {

using graph::NodeId;
using graph::OpKind;
using graph::Value;
using testing::GraphBuilder;
using Nodes = std::vector<NodeId>;

constexpr const char* kSharedWeight =
    "batch: y@ = MatMul(x@, w), const(w), rank(w) == 2, rank(x@) == 2"
    " => z = MatMul(Concat{0}(x@...), w); (y@...) = Split{0, [x@.0...]}(z)\n";
constexpr const char* kSharedInput =
    "merge: y@ = MatMul(x, w@), const(w@), rank(w@) == 2"
    " => z = MatMul(x, Concat{1}(w@...)); (y@...) = Split{1, [w@.1...]}(z)\n";

bool reads(const graph::Graph& graph, NodeId from, NodeId wanted) {
  if (from == wanted) return true;
  const auto& inputs = graph.node(from).inputs;
  return std::any_of(inputs.begin(), inputs.end(), [&](Value v) { return reads(graph, v.node, wanted); });
}

/// Sets of the graph's products, which are one group: the greedy independent set, and pairs.
std::set<Nodes> plain_sets(const graph::Graph& graph, bool share_activation) {
  graph::CanonicalOrder order(graph);
  const auto& position = order.positions();
  Nodes members;
  for (NodeId id = 0; id < graph.id_bound(); ++id) {
    if (graph.alive(id) && graph.node(id).kind == OpKind::matmul) members.push_back(id);
  }
  std::ranges::sort(members, {}, [&](NodeId id) {
    const Value own = graph.node(id).inputs[0];
    return std::tuple(share_activation ? 0 : position[own.node], position[id]);
  });
  const auto apart = [&](NodeId a, NodeId b) {
    return !reads(graph, graph.node(a).inputs[0].node, b) && !reads(graph, graph.node(b).inputs[0].node, a);
  };
  Nodes chosen;
  for (const NodeId id : members) {
    if (std::ranges::all_of(chosen, [&](NodeId other) { return apart(id, other); })) chosen.push_back(id);
  }
  std::set<Nodes> sets;
  if (chosen.size() > 1) sets.insert(chosen);
  const bool all = share_activation && members.size() <= SiblingGroups::kMostForAllPairs;
  for (std::size_t i = 0; i < members.size(); ++i) {
    for (std::size_t j = i + 1; j < (all ? members.size() : std::min(i + 2, members.size())); ++j) {
      if (apart(members[i], members[j])) sets.insert({members[i], members[j]});
    }
  }
  return sets;
}

/// Whether these sets alone are offered, each once.
bool holds_plain_sets(const MatchIndex& index, const graph::Graph& graph, bool share_activation) {
  std::set<Nodes> found;
  for (const Match& match : index.matches(0)) {
    const bool fresh = found.insert(Nodes(match.nodes.begin(), match.nodes.end())).second;
    EXPECT_TRUE(fresh) << "offered twice";
  }
  const auto wanted = plain_sets(graph, share_activation);
  EXPECT_EQ(found, wanted);
  return found == wanted;
}

bool offers_plain_sets(const graph::Graph& graph, const char* rule, bool share_activation) {
  const RuleSet rules = RuleSet::parse(rule, "t");
  return holds_plain_sets(MatchIndex(rules, graph), graph, share_activation);
}

// Products of one weight, some of which read others: two of them that are independent and stand apart are
// a set of their own.
TEST(SiblingGroups, OffersTheIndependentSetAndNeighboursWhereAWeightIsShared) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    GraphBuilder b(seed);
    Rng rng(seed, "products");
    const Value w = b.weight({4, 4});
    std::vector<Value> values = {b.input({1, 4}), b.input({2, 4})};
    const std::size_t products = 3 + rng.below(4);
    for (std::size_t made = 0; made < products;) {
      const Value from = values[values.size() - 1 - rng.below(std::min<std::size_t>(values.size(), 3))];
      const bool product = rng.below(2) == 0;
      values.push_back(product ? b.op(OpKind::matmul, {from, w}) : b.op(OpKind::relu, {from}));
      made += product ? 1 : 0;
    }
    for (const Value v : values) b.output(v);
    ASSERT_TRUE(offers_plain_sets(b.graph(), kSharedWeight, false)) << "seed " << seed;
  }
}

// An edit far above the members, which are what they were, makes one read another, or frees it.
TEST(SiblingGroups, FormsSetsAnewWhereAFarEditChangesWhatDependsOnWhat) {
  const RuleSet rules = RuleSet::parse(kSharedWeight, "t");
  std::size_t edits = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    GraphBuilder b(seed);
    Rng rng(seed, "far edits");
    graph::Graph& graph = b.graph();
    const Value w = b.weight({4, 4});
    std::vector<Value> values = {b.input({1, 4})};
    std::vector<NodeId> heads;  // of chains that end in a product
    for (std::size_t made = 0, products = 2 + rng.below(3); made < products; ++made) {
      const Value head = b.op(OpKind::relu, {values[rng.below(values.size())]});
      heads.push_back(head.node);
      values.push_back(b.op(OpKind::matmul, {b.op(OpKind::abs, {b.op(OpKind::neg, {head})}), w}));
    }
    for (const Value v : values) b.output(v);
    graph.commit();
    MatchIndex index(rules, graph);
    for (int step = 0; step < 8; ++step) {
      SCOPED_TRACE("seed " + std::to_string(seed) + " step " + std::to_string(step));
      const auto mark = graph.mark();
      const NodeId head = heads[rng.below(heads.size())];
      const Value to = values[rng.below(values.size())];
      if (to == graph.node(head).inputs[0] || reads(graph, to.node, head)) continue;
      graph.set_input(head, 0, to);
      ++edits;
      index.update(graph.touched_since(mark));
      ASSERT_TRUE(holds_plain_sets(index, graph, false));
    }
  }
  EXPECT_GT(edits, 100u);
}

TEST(SiblingGroups, OffersAllPairsOfFewMembersThatShareAnInputElseNeighbours) {
  for (const std::size_t members : {1u, 2u, 3u, 16u, 17u}) {
    GraphBuilder b;
    const Value x = b.input({2, 4});
    for (std::size_t i = 0; i < members; ++i) b.output(b.op(OpKind::matmul, {x, b.weight({4, 2})}));
    EXPECT_TRUE(offers_plain_sets(b.graph(), kSharedInput, true)) << members;
  }
}

}  // namespace
}
