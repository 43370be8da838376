#include "core/cost/peak_memory.h"

#include <algorithm>
#include <vector>

namespace regraft::cost {

using graph::NodeId;

std::int64_t peak_bytes(const graph::Graph& graph, std::span<const std::int64_t> bytes,
                        std::span<const NodeId> shares) {
  const std::size_t bound = graph.id_bound();
  std::vector<NodeId> order, holder(bound, graph::kNoNode);
  std::vector<std::size_t> waiting(bound, 0), readers(bound, 0);
  order.reserve(graph.live_count());
  for (NodeId id = 0; id < bound; ++id) {
    if (!graph.alive(id)) continue;
    for (const graph::Value value : graph.node(id).inputs) waiting[id] += value.present();
    if (waiting[id] == 0) order.push_back(id);
  }
  std::int64_t live = 0, peak = 0;
  const auto release = [&](NodeId id) {
    if (--readers[id] == 0) live -= bytes[id];
  };
  for (std::size_t at = 0; at < order.size(); ++at) {
    const NodeId id = order[at];
    holder[id] = shares[id] == graph::kNoNode ? id : holder[shares[id]];
    const NodeId own = holder[id];
    if (own == id) live += bytes[id];
    peak = std::max(peak, live);
    readers[own] += graph.uses(id).size();
    for (const graph::Use& use : graph.uses(id))
      if (use.user != graph::kGraphOutput && --waiting[use.user] == 0) order.push_back(use.user);
    for (const graph::Value value : graph.node(id).inputs)
      if (value.present()) release(holder[value.node]);
    if (graph.uses(id).empty() && own == id) live -= bytes[id];
  }
  return peak;
}

}  // namespace regraft::cost
