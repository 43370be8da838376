#include "core/rules/instantiate/reachability.h"

#include <algorithm>

namespace regraft::rules {

bool Reachability::any(const graph::Graph& graph, std::span<const graph::Value> values,
                       std::span<const graph::Value> targets) {
  for (graph::Value target : targets) {
    if (std::find(values.begin(), values.end(), target) != values.end()) return true;
  }
  if (++question_ == 0) seen_.clear();  // the numbers begin anew
  question_ = std::max(question_, std::uint32_t{1});
  if (seen_.size() < graph.id_bound()) seen_.resize(graph.id_bound(), 0);
  pending_.clear();
  const auto enter = [&](graph::NodeId user) {
    if (user == graph::kGraphOutput || seen_[user] == question_) return;
    seen_[user] = question_;
    pending_.push_back(user);
  };
  for (graph::Value value : values) {
    for (const graph::Use& use : graph.uses(value.node)) {
      if (use.user != graph::kGraphOutput && graph.node(use.user).inputs[use.slot] == value) enter(use.user);
    }
  }
  while (!pending_.empty()) {
    const graph::NodeId id = pending_.back();
    pending_.pop_back();
    const auto is_target = [id](graph::Value target) { return target.node == id; };
    if (std::any_of(targets.begin(), targets.end(), is_target)) return true;
    for (const graph::Use& use : graph.uses(id)) enter(use.user);
  }
  return false;
}

}
