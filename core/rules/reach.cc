#include "core/rules/reach.h"

#include <algorithm>
#include <limits>

namespace regraft::rules {

bool Reach::any(std::span<const graph::Value> values, std::span<const graph::Value> targets) {
  std::uint32_t last = position_ ? 0 : std::numeric_limits<std::uint32_t>::max();
  for (graph::Value target : targets) {
    if (std::find(values.begin(), values.end(), target) != values.end()) return true;
    if (position_) last = std::max(last, (*position_)[target.node]);
  }
  ++search_;
  pending_.clear();
  const auto enter = [&](graph::NodeId user) {
    if (user == graph::kGraphOutput || seen_[user] == search_ || (position_ && (*position_)[user] > last))
      return;
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
    const auto is_target = [id](graph::Value target) { return target.node == id; };
    if (std::any_of(targets.begin(), targets.end(), is_target)) return true;
    for (const graph::Use& use : graph_.uses(id)) enter(use.user);
  }
  return false;
}

}  // namespace regraft::rules
