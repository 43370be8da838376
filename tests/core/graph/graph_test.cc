#include "core/graph/graph.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "core/graph/order.h"
#include "core/graph/random_graph.h"
#include "core/graph/reference_order.h"
#include "support/dead_nodes.h"
#include "support/validate.h"

namespace regraft::graph {
namespace {

using ::testing::ElementsAre;

struct State {
  std::vector<NodeId> live;
  std::vector<std::vector<Use>> uses;
  std::vector<Value> outputs;
  Hash128 hash;
  bool operator==(const State&) const = default;
};

State state_of(const Graph& graph) {
  State state;
  for (NodeId id = 0; id < graph.id_bound(); ++id) {
    if (!graph.alive(id)) continue;
    state.live.push_back(id);
    state.uses.emplace_back(graph.uses(id).begin(), graph.uses(id).end());
  }
  state.outputs.assign(graph.outputs().begin(), graph.outputs().end());
  state.hash = structural_hash(graph);
  return state;
}

/// One random legal edit: a new node in front of a use, a replaced use, or dead-code removal.
void random_edit(Graph& graph, Rng& rng) {
  std::vector<NodeId> live;
  for (NodeId id = 0; id < graph.id_bound(); ++id)
    if (graph.alive(id)) live.push_back(id);
  const NodeId node = live[rng.below(live.size())];
  const Value value{node, static_cast<std::uint32_t>(rng.below(graph.node(node).outputs.size()))};
  const AttrId none = graph.tables().intern(AttrBlock{});
  switch (rng.below(3)) {
    case 0: {
      const NodeId made = graph.add(OpKind::relu, none, std::array{value});
      const std::vector<Use> uses(graph.uses(node).begin(), graph.uses(node).end());
      for (const Use use : uses)
        if (use.user != made && use.user != kGraphOutput && graph.node(use.user).inputs[use.slot] == value)
          graph.set_input(use.user, use.slot, {made, 0});
      break;
    }
    case 1: {
      const NodeId other = live[rng.below(live.size())];
      const Value to{other, 0};
      if (graph.type_id(value) != graph.type_id(to) || other == node) break;
      std::vector<NodeId> users;
      for (const Use use : graph.uses(node))
        if (use.user != kGraphOutput) users.push_back(use.user);
      if (!reaches(graph, users, other)) graph.replace_uses(value, to);
      break;
    }
    default:
      remove_all_dead(graph);
  }
}

TEST(Graph, UndoRestoresEveryEarlierStateExactly) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed, "graph undo");
    Tables tables;
    Graph graph = testing::random_graph(tables, rng, 30);
    validate(graph);
    std::vector<std::pair<Graph::Mark, State>> history;
    for (int step = 0; step < 40; ++step) {
      history.emplace_back(graph.mark(), state_of(graph));
      random_edit(graph, rng);
      validate(graph);
      if (rng.below(4) == 0) {
        const std::size_t back = rng.below(history.size());
        graph.undo_to(history[back].first);
        ASSERT_EQ(state_of(graph), history[back].second);
        validate(graph);
        history.resize(back);
      }
    }
  }
}

TEST(Graph, TouchedNodesCoverEveryNodeWhoseInputsOrUsesChanged) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed, "graph touched");
    Tables tables;
    Graph graph = testing::random_graph(tables, rng, 25);
    const Graph before = graph;
    const Graph::Mark mark = graph.mark();
    for (int i = 0; i < 3; ++i) random_edit(graph, rng);
    const std::vector<NodeId> touched = graph.touched_since(mark);
    for (NodeId id = 0; id < graph.id_bound(); ++id) {
      const bool was = before.alive(id), is = graph.alive(id);
      bool changed = was != is;
      if (was && is) {
        changed = !(before.node(id).inputs == graph.node(id).inputs) ||
                  !std::equal(before.uses(id).begin(), before.uses(id).end(), graph.uses(id).begin(),
                              graph.uses(id).end());
      }
      if (changed) {
        EXPECT_TRUE(std::binary_search(touched.begin(), touched.end(), id)) << id;
      }
    }
  }
}

/// The same graph built in another node order.
Graph rebuilt_in_random_order(const Graph& graph, Rng& rng) {
  Graph copy(graph.tables());
  std::vector<Value> placed(graph.id_bound());
  std::vector<NodeId> pending;
  for (NodeId id = 0; id < graph.id_bound(); ++id)
    if (graph.alive(id)) pending.push_back(id);
  while (!pending.empty()) {
    const std::size_t at = rng.below(pending.size());
    const Node& node = graph.node(pending[at]);
    std::vector<Value> inputs;
    bool ready = true;
    for (const Value value : node.inputs) {
      ready = ready && placed[value.node].present();
      if (ready) inputs.push_back({placed[value.node].node, value.output});
    }
    if (!ready) continue;
    Value made;
    if (node.kind == OpKind::input)
      made = {copy.add_input(node.outputs[0], node.origin), 0};
    else if (node.kind == OpKind::weight)
      made = copy.weight_value(node.weight);
    else
      made = {copy.add(node.kind, node.attrs, inputs), 0};
    placed[pending[at]] = made;
    pending.erase(pending.begin() + static_cast<std::ptrdiff_t>(at));
  }
  for (const Value value : graph.outputs()) copy.add_output({placed[value.node].node, value.output});
  return copy;
}

TEST(Graph, HashAndCanonicalOrderDoNotDependOnNodeIds) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed, "graph hash");
    Tables tables;
    const Graph graph = testing::random_graph(tables, rng, 25);
    const Graph copy = rebuilt_in_random_order(graph, rng);
    ASSERT_EQ(structural_hash(graph), structural_hash(copy));
    const auto merkle = merkle_hashes(graph), copied_merkle = merkle_hashes(copy);
    const auto order = testing::canonical_order(graph), copied_order = testing::canonical_order(copy);
    ASSERT_EQ(order.size(), copied_order.size());
    for (std::size_t i = 0; i < order.size(); ++i)
      EXPECT_EQ(merkle[order[i]], copied_merkle[copied_order[i]]) << i;
  }
}

class GraphFixture : public ::testing::Test {
 protected:
  GraphFixture() : graph(tables), none(tables.intern(AttrBlock{})) {
    const std::array<Dim, 2> dims{2, 3};
    matrix = tables.intern(DType::float32, dims);
    x = {graph.add_input(matrix, 0), 0};
  }
  Tables tables;
  Graph graph;
  AttrId none;
  TypeId matrix;
  Value x;
};

TEST_F(GraphFixture, SharedAndDuplicatedSubgraphsHashDifferently) {
  const NodeId a = graph.add(OpKind::relu, none, std::array{x});
  graph.add_output({graph.add(OpKind::add, none, std::array{Value{a, 0}, Value{a, 0}}), 0});
  const Hash128 shared = structural_hash(graph);
  const NodeId b = graph.add(OpKind::relu, none, std::array{x});
  graph.set_input(graph.outputs()[0].node, 1, {b, 0});
  EXPECT_NE(structural_hash(graph), shared);
}

TEST_F(GraphFixture, EqualWeightsShareOneNode) {
  const std::array<float, 6> data{1, 2, 3, 4, 5, 6};
  const WeightId first = tables.weights().literal(matrix, std::as_bytes(std::span(data)));
  const WeightId second = tables.weights().literal(matrix, std::as_bytes(std::span(data)));
  EXPECT_EQ(first, second);
  EXPECT_EQ(graph.weight_value(first), graph.weight_value(second));
}

TEST_F(GraphFixture, RemovingAUsedNodeIsRefused) {
  const NodeId a = graph.add(OpKind::relu, none, std::array{x});
  graph.add(OpKind::tanh, none, std::array{Value{a, 0}});
  EXPECT_THROW(graph.remove(a), GraphError);
}

TEST_F(GraphFixture, ReplacingAValueByAnotherTypeIsRefused) {
  const AttrId perm = tables.intern(AttrBlock{{Attr::perm, Ints{1, 0}}});
  const NodeId turned = graph.add(OpKind::transpose, perm, std::array{x});
  EXPECT_THROW(graph.replace_uses(x, {turned, 0}), GraphError);
}

TEST_F(GraphFixture, DeadCodeGoesButInputsStay) {
  const NodeId a = graph.add(OpKind::relu, none, std::array{x});
  graph.add(OpKind::tanh, none, std::array{Value{a, 0}});
  remove_all_dead(graph);
  EXPECT_EQ(graph.operation_count(), 0u);
  EXPECT_TRUE(graph.alive(x.node));
}

TEST_F(GraphFixture, UseListsAreSortedWhateverTheOrderOfEdits) {
  const NodeId a = graph.add(OpKind::relu, none, std::array{x});
  const NodeId b = graph.add(OpKind::add, none, std::array{x, Value{a, 0}});
  graph.set_input(b, 1, x);
  graph.set_input(a, 0, x);
  EXPECT_THAT(graph.uses(x.node), ElementsAre(Use{a, 0}, Use{b, 0}, Use{b, 1}));
  EXPECT_EQ(graph.use_count(x), 3u);
}

}  // namespace
}
