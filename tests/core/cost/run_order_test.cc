#include "core/cost/run_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "core/cost/random_net.h"

namespace regraft::cost {
namespace {

using graph::NodeId;
using testing::Net;
using testing::OpKind;
using testing::RandomNet;
using testing::Value;

/// By definition: those without inputs by id, and each node once the last of its inputs has run. Weights have
/// their turn, but no place.
std::vector<NodeId> slow_order(const graph::Graph& graph) {
  std::vector<NodeId> order;
  std::vector<std::size_t> missing(graph.id_bound(), 0);
  for (NodeId id = 0; id < graph.id_bound(); ++id) {
    if (!graph.alive(id)) continue;
    for (const Value value : graph.node(id).inputs) missing[id] += value.present() ? 1 : 0;
    if (missing[id] == 0) order.push_back(id);
  }
  for (std::size_t at = 0; at < order.size(); ++at)
    for (const graph::Use& use : graph.uses(order[at]))
      if (use.user != graph::kGraphOutput && --missing[use.user] == 0) order.push_back(use.user);
  std::erase_if(order, [&](NodeId id) { return graph.node(id).kind == OpKind::weight; });
  return order;
}

std::vector<NodeId> order_of(const RunOrder& order, const graph::Graph& graph) {
  std::vector<NodeId> nodes;
  for (NodeId id = 0; id < graph.id_bound(); ++id)
    if (order.line().holds(id)) nodes.push_back(id);
  std::sort(nodes.begin(), nodes.end(),
            [&](NodeId a, NodeId b) { return order.line().position(a) < order.line().position(b); });
  return nodes;
}

std::vector<NodeId> all_of(const graph::Graph& graph) {
  std::vector<NodeId> all(graph.id_bound());
  std::iota(all.begin(), all.end(), NodeId{0});
  return all;
}

/// A chain behind x; its nodes.
std::vector<Value> grow_chain(Net& net, Value x, int nodes) {
  std::vector<Value> chain;
  for (int i = 0; i < nodes; ++i) chain.push_back(x = net.op(i % 2 == 0 ? OpKind::relu : OpKind::tanh, {x}));
  net.output(x);
  return chain;
}

/// Takes a node of one input out; what that touched.
std::vector<NodeId> take_out(Net& net, Value node) {
  const auto mark = net.graph.mark();
  net.graph.replace_uses(node, net.graph.node(node.node).inputs[0]);
  net.graph.remove(node.node);
  return net.graph.touched_since(mark);
}

TEST(RunOrder, EqualsASlowOneAfterAnyWalk) {
  std::size_t followed = 0, anew = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Net net;
    Rng rng(seed, "order");
    RandomNet(net, rng).grow(20 + 10 * seed);
    RunOrder order;
    order.grow(net.graph.id_bound());
    order.update(net.graph, all_of(net.graph));
    ASSERT_EQ(order_of(order, net.graph), slow_order(net.graph));
    std::vector<graph::Graph::Mark> marks{net.graph.mark()};
    std::vector<NodeId> touched;
    for (int i = 0; i < 60; ++i) {
      const auto mark = net.graph.mark();
      if (rng.below(4) == 0) {
        const std::size_t back = rng.below(marks.size());
        const auto undone = net.graph.touched_since(marks[back]);
        touched.insert(touched.end(), undone.begin(), undone.end());
        net.graph.undo_to(marks[back]);
        marks.resize(back + 1);
      } else {
        testing::random_edit(net, rng);
        const auto edited = net.graph.touched_since(mark);
        touched.insert(touched.end(), edited.begin(), edited.end());
        marks.push_back(net.graph.mark());
      }
      order.grow(touched.empty() ? 0 : 1 + *std::max_element(touched.begin(), touched.end()));
      if (rng.below(3) == 0) continue;  // then the next one follows both
      ++(order.update(net.graph, touched).all ? anew : followed);
      touched.clear();
      ASSERT_EQ(order_of(order, net.graph), slow_order(net.graph));
    }
  }
  EXPECT_GT(followed, 10 * anew);
  EXPECT_GT(anew, 0u);
}

TEST(RunOrder, MovesWhatMovesAmongTheOthersAndNothingBehindIt) {
  Net net;
  const std::vector<Value> chain = grow_chain(net, net.input({4, 8}), 200);
  RunOrder order;
  order.grow(net.graph.id_bound());
  EXPECT_TRUE(order.update(net.graph, all_of(net.graph)).all);
  const std::vector<NodeId> touched = take_out(net, chain[20]);
  const auto moved = order.update(net.graph, touched);
  EXPECT_FALSE(moved.all);
  EXPECT_TRUE(moved.nodes.empty());
  EXPECT_EQ(order_of(order, net.graph), slow_order(net.graph));
}

TEST(RunOrder, IsMadeAnewWhereBranchesAreShiftedAgainstEachOther) {
  Net net;
  const std::vector<Value> shifted = grow_chain(net, net.input({4, 8}), 400);
  grow_chain(net, net.input({4, 8}), 400);
  RunOrder order;
  order.grow(net.graph.id_bound());
  order.update(net.graph, all_of(net.graph));
  ASSERT_EQ(order_of(order, net.graph), slow_order(net.graph));
  EXPECT_TRUE(order.update(net.graph, take_out(net, shifted[0])).all);
  EXPECT_EQ(order_of(order, net.graph), slow_order(net.graph));
}

}  // namespace
}
