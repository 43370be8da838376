#include "core/graph/order.h"

#include <functional>
#include <queue>

namespace regraft::graph {
namespace {

Hash128 node_hash(const Graph& graph, NodeId id, const std::vector<Hash128>& merkle) {
  return merkle_hash(operation_hash(graph, id), graph.node(id), merkle);
}

}  // namespace

Hash128 operation_hash(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const Tables& tables = graph.tables();
  Hasher hasher(9);
  hasher.add(static_cast<std::uint64_t>(node.kind));
  if (node.kind == OpKind::weight) {
    hasher.add(tables.weights()[node.weight].hash);
    return hasher.finish();
  }
  if (node.kind == OpKind::input) hasher.add(static_cast<std::uint64_t>(node.origin));
  if (node.kind == OpKind::opaque) hasher.add(tables.opaque_hash(node.origin));
  hasher.add(tables.attrs_hash(node.kind == OpKind::opaque ? AttrId{} : node.attrs));  // in the hash above
  for (const TypeId type : node.outputs) hasher.add(tables.type_hash(type));
  return hasher.finish();
}

Hash128 uses_hash(const Graph& graph, NodeId id, const std::vector<Hash128>& merkle,
                  const std::vector<Hash128>& down) {
  Hash128 sum;
  for (const Use use : graph.uses(id)) {
    Hasher hasher(10);
    hasher.add(use.slot);
    if (use.user != kGraphOutput) {
      hasher.add(merkle[use.user]);
      hasher.add(down[use.user]);
    }
    sum += hasher.finish();
  }
  return sum;
}

std::vector<NodeId> topological_order(const Graph& graph) {
  std::vector<std::uint32_t> waiting(graph.id_bound(), 0);
  std::priority_queue<NodeId, std::vector<NodeId>, std::greater<>> ready;
  for (NodeId id = 0; id < graph.id_bound(); ++id) {
    if (!graph.alive(id)) continue;
    for (const Value value : graph.node(id).inputs) waiting[id] += value.present() ? 1 : 0;
    if (waiting[id] == 0) ready.push(id);
  }
  std::vector<NodeId> order;
  order.reserve(graph.live_count());
  while (!ready.empty()) {
    const NodeId id = ready.top();
    ready.pop();
    order.push_back(id);
    for (const Use use : graph.uses(id))
      if (use.user != kGraphOutput && --waiting[use.user] == 0) ready.push(use.user);
  }
  if (order.size() != graph.live_count()) throw GraphError("the graph has a cycle", "graph", "");
  return order;
}

std::vector<Hash128> merkle_hashes(const Graph& graph) {
  std::vector<Hash128> merkle(graph.id_bound());
  for (const NodeId id : topological_order(graph)) merkle[id] = node_hash(graph, id, merkle);
  return merkle;
}

Hash128 structural_hash(const Graph& graph) {
  const std::vector<Hash128> merkle = merkle_hashes(graph);
  Hash128 live;
  for (NodeId id = 0; id < graph.id_bound(); ++id)
    if (graph.alive(id)) live += merkle[id];
  Hasher hasher(8);
  hasher.add(live);
  for (const Value value : graph.outputs()) {
    hasher.add(merkle[value.node]);
    hasher.add(value.output);
  }
  return hasher.finish();
}

bool reaches(const Graph& graph, std::span<const NodeId> from, NodeId to) {
  std::vector<std::uint8_t> seen(graph.id_bound(), 0);
  std::vector<NodeId> pending(from.begin(), from.end());
  while (!pending.empty()) {
    const NodeId id = pending.back();
    pending.pop_back();
    if (id == to) return true;
    if (seen[id]) continue;
    seen[id] = 1;
    for (const Use use : graph.uses(id))
      if (use.user != kGraphOutput) pending.push_back(use.user);
  }
  return false;
}

}
