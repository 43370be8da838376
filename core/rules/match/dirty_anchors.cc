#include "core/rules/match/dirty_anchors.h"

#include <algorithm>
#include <utility>

namespace regraft::rules {

using graph::NodeId;

namespace {

constexpr std::uint32_t kFar = ~std::uint32_t{0};

}  // namespace

DirtyAnchors::DirtyAnchors(const RuleSet& rules, const graph::Graph& graph) : graph_(graph) {
  for (std::size_t number = 0; number < rules.size(); ++number) {
    const CompiledRule& rule = rules.compiled(number);
    const Sight& sight = sights_.emplace_back(rule.local, rule.local ? rule.depth : rule.radius);
    std::uint32_t& farthest = rule.local ? depth_ : radius_;
    farthest = std::max(farthest, sight.edges);
  }
  stamps_.resize(graph.id_bound());
  place_.resize(graph.id_bound(), kFar);
  displaced_.resize(graph.id_bound(), 0);
  for (NodeId id = 0; id < graph.id_bound(); ++id) stamps_[id] = stamp_of(id);
  first_ = stamps_;
  first_outputs_.assign(graph.outputs().begin(), graph.outputs().end());
}

bool DirtyAnchors::Stamp::operator==(const Stamp& other) const {
  if (!alive || !other.alive) return alive == other.alive;
  return signature == other.signature && weight == other.weight && inputs == other.inputs;
}

DirtyAnchors::Stamp DirtyAnchors::stamp_of(NodeId id) const {
  if (!graph_.alive(id)) return {};
  const graph::Node& node = graph_.node(id);
  if (node.weight == graph::WeightId::none) return {true, node.signature, 0, node.inputs};
  return {true, node.signature, graph_.tables().weights()[node.weight].hash.low, node.inputs};
}

bool DirtyAnchors::changed(NodeId id) {
  Stamp now = stamp_of(id);
  if (now == stamps_[id]) return false;
  stamps_[id] = std::move(now);
  const std::uint8_t displaced = stamps_[id] == (id < first_.size() ? first_[id] : Stamp{}) ? 0 : 1;
  displaced_count_ += displaced;
  displaced_count_ -= std::exchange(displaced_[id], displaced);
  return true;
}

inline void DirtyAnchors::enter(NodeId id, std::uint32_t distance, std::uint32_t Distance::*which) {
  if (place_[id] == kFar) {
    place_[id] = static_cast<std::uint32_t>(found_.size());
    found_.push_back({id, {kFar, kFar}});
  }
  std::uint32_t& held = found_[place_[id]].second.*which;
  if (held != kFar) return;
  held = distance;
  queue_.push_back(id);
}

const std::vector<std::pair<NodeId, DirtyAnchors::Distance>>& DirtyAnchors::after(
    std::span<const NodeId> touched) {
  for (const auto& [id, distance] : found_) place_[id] = kFar;
  found_.clear();
  const std::size_t bound = std::max<std::size_t>(graph_.id_bound(), stamps_.size());
  stamps_.resize(bound);
  place_.resize(bound, kFar);
  displaced_.resize(bound, 0);
  spread_below(touched);
  spread_around(touched);
  return found_;
}

void DirtyAnchors::spread_below(std::span<const NodeId> touched) {
  queue_.clear();
  for (NodeId id : touched) {
    if (id < stamps_.size() && changed(id)) enter(id, 0, &Distance::below);
  }
  // A pattern reads the contents of its constants, which its nodes' signatures do not tell.
  for (std::size_t i = 0, count = queue_.size(); i < count; ++i) {
    const NodeId id = queue_[i];
    if (!graph_.alive(id) || graph_.node(id).weight == graph::WeightId::none) continue;
    for (const graph::Use& use : graph_.uses(id)) {
      if (use.user != graph::kGraphOutput) enter(use.user, 0, &Distance::below);
    }
  }
  for (std::size_t i = 0; i < queue_.size(); ++i) {
    const NodeId id = queue_[i];
    const std::uint32_t distance = found_[place_[id]].second.below;
    if (!graph_.alive(id) || distance >= depth_) continue;
    for (const graph::Use& use : graph_.uses(id)) {
      if (use.user != graph::kGraphOutput) enter(use.user, distance + 1, &Distance::below);
    }
  }
}

// Breadth first over operands and users, not through weights: a shared constant makes no neighbours.
void DirtyAnchors::spread_around(std::span<const NodeId> touched) {
  if (radius_ == 0) return;
  queue_.clear();
  const auto is_weight = [&](NodeId id) {
    return graph_.alive(id) && graph_.node(id).kind == graph::OpKind::weight;
  };
  for (NodeId id : touched) {
    if (id < stamps_.size()) enter(id, 0, &Distance::around);
  }
  for (std::size_t i = 0; i < queue_.size(); ++i) {
    const NodeId id = queue_[i];
    const std::uint32_t distance = found_[place_[id]].second.around;
    if (!graph_.alive(id) || is_weight(id) || distance >= radius_) continue;
    for (graph::Value input : graph_.node(id).inputs) {
      if (input.present() && !is_weight(input.node)) enter(input.node, distance + 1, &Distance::around);
    }
    for (const graph::Use& use : graph_.uses(id)) {
      if (use.user != graph::kGraphOutput) enter(use.user, distance + 1, &Distance::around);
    }
  }
}

}
