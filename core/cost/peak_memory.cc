#include "core/cost/peak_memory.h"

#include <algorithm>
#include <numeric>

namespace regraft::cost {

using graph::NodeId;

std::int64_t peak_bytes(const graph::Graph& graph, std::span<const std::int64_t> bytes,
                        std::span<const NodeId> shares) {
  std::vector<NodeId> all(graph.id_bound());
  std::iota(all.begin(), all.end(), NodeId{0});
  PeakMemory peak;
  peak.update(graph, all);
  return peak.bytes(graph, bytes, shares);
}

void PeakMemory::update(const graph::Graph& graph, std::span<const NodeId> touched) {
  first_states_.resize(std::max<std::size_t>(graph.id_bound(), first_states_.size()));
  for (const NodeId id : touched) {
    if (id >= first_states_.size()) continue;
    const bool alive = graph.alive(id);
    std::uint32_t waiting = 0;
    if (alive)
      for (const graph::Value value : graph.node(id).inputs) waiting += value.present() ? 1 : 0;
    first_states_[id].waiting = waiting;
    const auto at = std::lower_bound(sources_.begin(), sources_.end(), id);
    const bool held = at != sources_.end() && *at == id, source = alive && waiting == 0;
    if (held && !source) sources_.erase(at);
    if (source && !held) sources_.insert(at, id);
  }
}

std::int64_t PeakMemory::bytes(const graph::Graph& graph, std::span<const std::int64_t> bytes,
                               std::span<const NodeId> shares) {
  states_ = first_states_;
  order_ = sources_;
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
