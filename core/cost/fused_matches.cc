#include "core/cost/fused_matches.h"

#include <algorithm>

namespace regraft::cost {

using graph::NodeId;

bool FusedMatch::has(NodeId node) const {
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

FusedMatches::FusedMatches(const FusedPatterns* patterns, const graph::Graph& graph)
    : patterns_(patterns), graph_(graph) {
  if (!patterns) return;
  programs_.emplace_back(patterns->patterns());
  for (std::size_t i = 0; i < patterns->patterns().size(); ++i) {
    const rules::CompiledRule& pattern = patterns->patterns().compiled(i);
    matchers_.emplace_back(pattern, graph);
    roots_ |= pattern.anchors;
    depth_ = std::max(depth_, pattern.depth + 1);  // with what the farthest operation reads
  }
}

void FusedMatches::update(std::span<const NodeId> touched, std::vector<NodeId>& changed) {
  if (!patterns_) return;
  if (at_root_.size() < graph_.id_bound()) {
    at_root_.resize(graph_.id_bound(), kNone);
    distance_.resize(graph_.id_bound(), kNone);
    roots_around_.resize(graph_.id_bound());
  }
  walk_below(touched);
  for (const NodeId root : below_) {
    const bool held = at_root_[root] != kNone, found = find(root);
    if (held == found && (!found || matches_[at_root_[root]] == found_)) continue;
    if (held) leave(root, changed);
    if (!found) continue;
    enter(root);
    for (const NodeId node : found_.nodes) changed.push_back(node);
  }
}

// A node is touched where its inputs or its uses change. Weights and inputs are in no pattern.
void FusedMatches::walk_below(std::span<const NodeId> touched) {
  below_.clear();
  const auto enter = [&](NodeId id, Number distance) {
    if (distance_[id] != kNone) return;
    distance_[id] = distance;
    below_.push_back(id);
  };
  for (const NodeId id : touched)
    if (id < distance_.size()) enter(id, 0);  // else it came and went since the last update
  for (std::size_t at = 0; at < below_.size(); ++at) {
    const NodeId id = below_[at];
    if (!graph_.alive(id) || distance_[id] == depth_) continue;
    const graph::OpKind kind = graph_.node(id).kind;
    if (kind == graph::OpKind::input || kind == graph::OpKind::weight) continue;
    for (const graph::Use& use : graph_.uses(id))
      if (use.user != graph::kGraphOutput) enter(use.user, distance_[id] + 1);
  }
  for (const NodeId id : below_) distance_[id] = kNone;
}

bool FusedMatches::find(NodeId root) {
  if (!graph_.alive(root) || !roots_.test(static_cast<std::size_t>(graph_.node(root).kind))) return false;
  for (const std::uint32_t pattern : programs_[0].at(graph_, root)) {
    const bool apart = patterns_->kernel(pattern).kind == KernelKind{};
    const bool found =
        matchers_[pattern].run(root, {}, [&](rules::Bindings& bindings, std::span<const NodeId> nodes) {
          if (!apart && !is_alone(nodes)) return false;
          const rules::Slot over{-1, patterns_->kernel(pattern).over};
          found_.pattern = pattern;
          found_.over = bindings.tensor(over).value;
          found_.nodes.assign(nodes.begin(), nodes.end());
          return true;
        });
    if (found) return !apart;
  }
  return false;
}

bool FusedMatches::is_alone(std::span<const NodeId> nodes) const {
  return std::all_of(nodes.begin() + 1, nodes.end(), [&](NodeId node) {
    return std::ranges::all_of(graph_.uses(node), [&](const graph::Use& use) {
      return std::find(nodes.begin(), nodes.end(), use.user) != nodes.end();
    });
  });
}

void FusedMatches::enter(NodeId root) {
  if (spare_.empty()) {
    spare_.push_back(static_cast<Number>(matches_.size()));
    matches_.emplace_back();
  }
  at_root_[root] = spare_.back();
  spare_.pop_back();
  matches_[at_root_[root]] = found_;
  for (const NodeId node : found_.nodes) roots_around_[node].push_back(root);
}

void FusedMatches::leave(NodeId root, std::vector<NodeId>& changed) {
  for (const NodeId node : matches_[at_root_[root]].nodes) {
    auto& roots = roots_around_[node];
    *std::find(roots.begin(), roots.end(), root) = roots.back();
    roots.pop_back();
    if (graph_.alive(node)) changed.push_back(node);
  }
  spare_.push_back(at_root_[root]);
  at_root_[root] = kNone;
}

const FusedMatch* FusedMatches::around(NodeId node) const {
  if (node >= roots_around_.size()) return nullptr;
  const FusedMatch* first = nullptr;
  for (const NodeId root : roots_around_[node]) {
    const FusedMatch& match = matches_[at_root_[root]];
    if (!first || std::pair(match.pattern, root) < std::pair(first->pattern, first->root())) first = &match;
  }
  return first;
}

}
