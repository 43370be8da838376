#include "core/graph/drop_copies.h"

#include <algorithm>
#include <array>

#include "core/graph/order.h"

namespace regraft::graph {

bool is_copy(const Graph& graph, const Node& node) {
  if (node.kind == OpKind::identity) return true;
  return (node.kind == OpKind::cast || node.kind == OpKind::cast_like) &&
         graph.type_id(node.inputs[0]) == node.outputs[0] &&
         graph.type(node.inputs[0]).dtype != DType::undefined;
}

void drop_copies(Graph& graph) {
  for (const NodeId id : topological_order(graph)) {
    if (!is_copy(graph, graph.node(id))) continue;
    if (std::ranges::any_of(graph.uses(id), [](const Use& use) { return use.user == kGraphOutput; }))
      continue;
    graph.replace_uses({id, 0}, graph.node(id).inputs[0]);
    graph.remove_dead(std::array{id});
  }
}

}
