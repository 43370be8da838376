#include "core/rules/dirty_anchors.h"

#include <algorithm>
#include <utility>

#include "core/rules/legal_memo.h"

namespace regraft::rules {

using graph::NodeId;

namespace {

constexpr std::uint32_t kFar = ~std::uint32_t{0};

}  // namespace

DirtyAnchors::DirtyAnchors(const RuleSet& rules, const graph::Graph& graph) : graph_(graph) {
  for (std::size_t number = 0; number < rules.size(); ++number) {
    const CompiledRule& rule = rules.compiled(number);
    std::uint32_t& farthest = rule.local ? depth_ : radius_;
    farthest = std::max(farthest, rule.local ? rule.depth : rule.radius);
  }
  stamps_.resize(graph.id_bound());
  place_.resize(graph.id_bound(), kFar);
  for (NodeId id = 0; id < graph.id_bound(); ++id) changed(id);
}

bool DirtyAnchors::changed(NodeId id) {
  Stamp& held = stamps_[id];
  const bool alive = graph_.alive(id);
  if (!alive) return std::exchange(held.alive, false);
  const graph::Node& node = graph_.node(id);
  const bool constant = node.weight != graph::WeightId::none;
  const std::uint64_t used = constant ? 0 : used_outputs(graph_, id);
  const std::uint64_t weight = constant ? graph_.tables().weights()[node.weight].hash.low : 0;
  const bool same = held.alive && held.signature == node.signature && held.weight == weight &&
                    held.used == used && held.inputs == node.inputs;
  held.alive = true;
  held.signature = node.signature;
  held.weight = weight;
  held.used = used;
  held.inputs = node.inputs;
  return !same;
}

void DirtyAnchors::enter(NodeId id, std::uint32_t distance, std::uint32_t Distance::*which) {
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

}  // namespace regraft::rules
