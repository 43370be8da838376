#include "core/graph/drop_copies.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <vector>

#include "core/graph/order.h"

namespace regraft::graph {
namespace {

bool is_given_out(const Graph& graph, NodeId id) {
  return std::ranges::any_of(graph.uses(id), [](const Use& use) { return use.user == kGraphOutput; });
}

}  // namespace

bool is_copy(const Graph& graph, const Node& node) {
  if (node.kind == OpKind::identity) return true;
  return (node.kind == OpKind::cast || node.kind == OpKind::cast_like) &&
         graph.type_id(node.inputs[0]) == node.outputs[0] &&
         graph.type(node.inputs[0]).dtype != DType::undefined;
}

void drop_copies(Graph& graph) {
  std::map<std::tuple<OpKind, AttrId, std::vector<Value>>, NodeId> first;
  for (const NodeId id : topological_order(graph)) {
    const Node& node = graph.node(id);
    if (node.kind == OpKind::input || node.kind == OpKind::weight || node.kind == OpKind::opaque) continue;
    const std::vector<Value> operands(node.inputs.begin(), node.inputs.end());
    const auto [at, fresh] = first.emplace(std::tuple(node.kind, node.attrs, operands), id);
    const bool copy = is_copy(graph, node);
    if ((fresh && !copy) || is_given_out(graph, id)) continue;
    for (std::uint32_t i = 0; i < node.outputs.size(); ++i)
      graph.replace_uses({id, i}, copy ? node.inputs[0] : Value{at->second, i});
    graph.remove_dead(std::array{id});
  }
}

}
