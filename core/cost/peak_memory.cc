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
  const std::size_t bound = std::max<std::size_t>(graph.id_bound(), states_.size());
  states_.resize(bound);
  source_.resize(bound, 0);
  last_source_.resize(bound, graph::kNoNode);
  moved_.clear();
  for (const NodeId id : touched) {
    if (id >= bound) continue;
    const auto present = [](graph::Value value) { return value.present(); };
    const bool source = graph.alive(id) && std::ranges::none_of(graph.node(id).inputs, present);
    if (source == is_source(id)) continue;
    source_[id] = source ? 1 : 0;
    const auto at = std::lower_bound(sources_.begin(), sources_.end(), id);
    if (source) {
      sources_.insert(at, id);
    } else {
      sources_.erase(at);
    }
    if (graph.alive(id)) moved_.push_back(id);
  }
  for (const NodeId id : touched)
    if (id < bound) note(graph, id);
  for (const NodeId id : moved_)
    for (const graph::Use& use : graph.uses(id))
      if (use.user != graph::kGraphOutput) note(graph, use.user);
}

void PeakMemory::note(const graph::Graph& graph, NodeId id) {
  std::uint32_t waiting = 0;
  NodeId last = graph::kNoNode;
  if (graph.alive(id)) {
    for (const graph::Value value : graph.node(id).inputs) {
      if (!value.present()) continue;
      if (!is_source(value.node)) {
        ++waiting;
      } else if (last == graph::kNoNode || value.node > last) {
        last = value.node;
      }
    }
  }
  states_[id].inputs = states_[id].waiting = waiting;
  const NodeId now = waiting == 0 ? last : graph::kNoNode;
  NodeId& held = last_source_[id];
  if (now == held) return;
  const auto place = [&](NodeId source) {
    return std::lower_bound(early_.begin(), early_.end(), Early{source, id});
  };
  if (held != graph::kNoNode) early_.erase(place(held));
  if (now != graph::kNoNode) early_.insert(place(now), Early{now, id});
  held = now;
}

std::int64_t PeakMemory::bytes(const graph::Graph& graph, std::span<const std::int64_t> bytes,
                               std::span<const NodeId> shares) {
  State* const states = states_.data();
  std::int64_t live = 0, peak = 0;
  const auto start = [&](NodeId id, std::size_t uses) {
    const auto readers = static_cast<std::uint32_t>(uses);
    if (shares[id] == graph::kNoNode) {
      states[id].holder = id;
      states[id].readers = readers;
      live += bytes[id];
      peak = std::max(peak, live);
      if (readers == 0) live -= bytes[id];
    } else {
      states[id].holder = states[shares[id]].holder;
      states[states[id].holder].readers += readers;
    }
  };
  for (const NodeId id : sources_) start(id, graph.uses(id).size());
  order_.clear();
  for (const Early& early : early_) order_.push_back(early.node);
  for (std::size_t at = 0; at < order_.size(); ++at) {
    const NodeId id = order_[at];
    const auto uses = graph.uses(id);
    start(id, uses.size());
    for (const graph::Use& use : uses)
      if (use.user != graph::kGraphOutput && --states[use.user].waiting == 0) order_.push_back(use.user);
    states[id].waiting = states[id].inputs;
    for (const graph::Value value : graph.node(id).inputs) {
      if (!value.present()) continue;
      const NodeId holder = states[value.node].holder;
      if (--states[holder].readers == 0) live -= bytes[holder];
    }
  }
  return peak;
}

}  // namespace regraft::cost
