#include "core/rules/reach.h"

#include <algorithm>

namespace regraft::rules {

bool Reach::any(std::span<const graph::Value> values, std::span<const graph::NodeId> targets) {
  std::uint32_t last = 0;
  for (graph::NodeId target : targets) last = std::max(last, position_[target]);
  ++search_;
  pending_.clear();
  const auto enter = [&](graph::NodeId user) {
    if (user == graph::kGraphOutput || seen_[user] == search_ || position_[user] > last) return;
    seen_[user] = search_;
    pending_.push_back(user);
  };
  for (graph::Value value : values) {
    for (const graph::Use& use : graph_.uses(value.node)) {
      if (use.user != graph::kGraphOutput && graph_.node(use.user).inputs[use.slot] == value) enter(use.user);
    }
  }
  while (!pending_.empty()) {
    const graph::NodeId id = pending_.back();
    pending_.pop_back();
    if (std::find(targets.begin(), targets.end(), id) != targets.end()) return true;
    for (const graph::Use& use : graph_.uses(id)) enter(use.user);
  }
  return false;
}

}  // namespace regraft::rules
