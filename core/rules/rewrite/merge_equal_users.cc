#include "core/rules/rewrite/merge_equal_users.h"

#include <algorithm>
#include <array>

namespace regraft::rules {

using graph::Graph;
using graph::NodeId;
using graph::OpKind;
using graph::Value;

namespace {

bool makes_output(const Graph& graph, NodeId id) {
  const auto uses = graph.uses(id);
  return std::any_of(uses.begin(), uses.end(),
                     [](const graph::Use& use) { return use.user == graph::kGraphOutput; });
}

// Another node with the same operation on the same operands.
NodeId find_equal(const Graph& graph, NodeId id) {
  const graph::Node& node = graph.node(id);
  if (node.kind == OpKind::opaque) return graph::kNoNode;
  const auto varies = [&](Value v) { return v.present() && graph.weight_of(v) == graph::WeightId::none; };
  const auto input = std::find_if(node.inputs.begin(), node.inputs.end(), varies);
  if (input == node.inputs.end()) return graph::kNoNode;
  for (const graph::Use& use : graph.uses(input->node)) {
    if (use.user == graph::kGraphOutput || use.user == id) continue;
    const graph::Node& other = graph.node(use.user);
    if (other.kind == node.kind && other.attrs == node.attrs && other.inputs == node.inputs) return use.user;
  }
  return graph::kNoNode;
}

}  // namespace

void merge_equal_users(Graph& graph, std::vector<Value>& values) {
  InlineVector<NodeId, 32> pending;
  const auto add_users = [&](NodeId id) {
    for (const graph::Use& use : graph.uses(id)) {
      if (use.user != graph::kGraphOutput) pending.push_back(use.user);
    }
  };
  for (Value value : values) add_users(value.node);
  while (!pending.empty()) {
    const NodeId id = pending.back();
    pending.pop_back();
    const NodeId equal = graph.alive(id) ? find_equal(graph, id) : graph::kNoNode;
    if (equal == graph::kNoNode || (makes_output(graph, id) && makes_output(graph, equal))) continue;
    const NodeId kept = std::min(id, equal), gone = std::max(id, equal);
    for (std::uint32_t i = 0; i < graph.node(gone).outputs.size(); ++i) {
      graph.replace_uses({gone, i}, {kept, i});
      std::replace(values.begin(), values.end(), Value{gone, i}, Value{kept, i});
    }
    graph.remove_dead(std::array{gone});
    add_users(kept);
  }
}

}
