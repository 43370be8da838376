#include "core/graph/canonical_order.h"

#include <gtest/gtest.h>

#include "core/graph/order.h"
#include "core/graph/random_graph.h"
#include "core/graph/reference_order.h"
#include "support/validate.h"

namespace regraft::graph {
namespace {

std::vector<Value> live_values(const Graph& graph) {
  std::vector<Value> values;
  for (NodeId id = 0; id < graph.id_bound(); ++id)
    for (std::uint32_t i = 0; graph.alive(id) && i < graph.node(id).outputs.size(); ++i)
      values.push_back({id, i});
  return values;
}

std::vector<NodeId> operations(const Graph& graph) {
  std::vector<NodeId> out;
  for (NodeId id = 0; id < graph.id_bound(); ++id)
    if (graph.alive(id) && !graph.node(id).inputs.empty()) out.push_back(id);
  return out;
}

/// One change of a few sorts: a new operation (often the twin of one that is there), an input that points
/// elsewhere, an output that does, or dead code removed.
void random_edit(Graph& graph, Rng& rng) {
  const std::vector<Value> values = live_values(graph);
  const std::vector<NodeId> ops = operations(graph);
  const Value value = values[rng.below(values.size())];
  const NodeId op = ops.empty() ? kNoNode : ops[rng.below(ops.size())];
  const AttrId none = graph.tables().intern(AttrBlock{});
  switch (op == kNoNode ? 3 : rng.below(5)) {
    case 0:
      if (!reaches(graph, std::array{op}, value.node))
        graph.set_input(op, static_cast<std::uint32_t>(rng.below(graph.node(op).inputs.size())), value);
      break;
    case 1:
      graph.set_output(static_cast<std::uint32_t>(rng.below(graph.outputs().size())), value);
      break;
    case 2: {
      const Node twin = graph.node(op);
      graph.add(twin.kind, twin.attrs, twin.inputs);
      break;
    }
    case 3:
      graph.add(OpKind::relu, none, std::array{value});
      break;
    default:
      graph.remove_dead(std::array{op});
  }
}

// Types are those of 4 x 4 matrices everywhere but behind Concat: an edit that would break a shape is taken
// back.
bool is_valid(const Graph& graph) {
  try {
    validate(graph);
  } catch (const GraphError&) {
    return false;
  }
  return true;
}

TEST(CanonicalOrder, EqualsTheOrderMadeAfreshOnEveryWalk) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed, "canonical order");
    Tables tables;
    Graph graph = testing::random_graph(tables, rng, 30);
    CanonicalOrder kept(graph);
    std::vector<Graph::Mark> marks;
    for (int step = 0; step < 60; ++step) {
      const Graph::Mark before = graph.mark();
      std::vector<NodeId> touched;
      if (!marks.empty() && rng.below(5) == 0) {
        const std::size_t back = rng.below(marks.size());
        touched = graph.touched_since(marks[back]);
        graph.undo_to(marks[back]);
        marks.resize(back);
      } else {
        random_edit(graph, rng);
        touched = graph.touched_since(before);
        if (!is_valid(graph)) graph.undo_to(before);
        marks.push_back(before);
      }
      kept.update(touched);
      if (rng.below(3) == 0) continue;  // several edits between two looks
      const std::vector<NodeId> wanted = testing::canonical_order(graph);
      ASSERT_TRUE(std::ranges::equal(wanted, kept.order())) << "step " << step;
      for (std::size_t i = 0; i < wanted.size(); ++i) ASSERT_EQ(kept.positions()[wanted[i]], i);
      for (NodeId id = 0; id < graph.id_bound(); ++id) {
        const bool is_weight = graph.alive(id) && graph.node(id).kind == OpKind::weight;
        ASSERT_TRUE(!is_weight || kept.positions()[id] == 0);
      }
    }
  }
}

}  // namespace
}
