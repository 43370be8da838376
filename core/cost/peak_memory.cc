#include "core/cost/peak_memory.h"

#include <algorithm>

namespace regraft::cost {

using graph::NodeId;

std::int64_t peak_bytes(const graph::Graph& graph, std::span<const std::int64_t> bytes,
                        std::span<const NodeId> shares) {
  return PeakMemory().bytes(graph, bytes, shares);
}

std::int64_t PeakMemory::bytes(const graph::Graph& graph, std::span<const std::int64_t> bytes,
                               std::span<const NodeId> shares) {
  const std::size_t bound = graph.id_bound();
  states_.assign(bound, {});
  order_.clear();
  for (NodeId id = 0; id < bound; ++id) {
    if (!graph.alive(id)) continue;
    for (const graph::Value value : graph.node(id).inputs) states_[id].waiting += value.present();
    if (states_[id].waiting == 0) order_.push_back(id);
  }
  std::int64_t live = 0, peak = 0;
  for (std::size_t at = 0; at < order_.size(); ++at) {
    const NodeId id = order_[at];
    const NodeId own = shares[id] == graph::kNoNode ? id : states_[shares[id]].holder;
    const auto uses = graph.uses(id);
    states_[id].holder = own;
    if (own == id) live += bytes[id];
    peak = std::max(peak, live);
    states_[own].readers += static_cast<std::uint32_t>(uses.size());
    for (const graph::Use& use : uses)
      if (use.user != graph::kGraphOutput && --states_[use.user].waiting == 0) order_.push_back(use.user);
    for (const graph::Value value : graph.node(id).inputs) {
      if (!value.present()) continue;
      const NodeId holder = states_[value.node].holder;
      if (--states_[holder].readers == 0) live -= bytes[holder];
    }
    if (uses.empty() && own == id) live -= bytes[id];
  }
  return peak;
}

}  // namespace regraft::cost
