#include "core/search/search_tree.h"

#include <algorithm>

namespace regraft::search {

SearchTree::SearchTree(env::RewriteState& state) : state_(state) {
  nodes_.emplace_back();
}

SearchTree::Id SearchTree::add(Id parent, const rules::Match& match) {
  nodes_.push_back({parent, match});
  return static_cast<Id>(nodes_.size() - 1);
}

SearchTree::Id SearchTree::follow() {
  while (current_.size() < state_.depth())
    current_.push_back(add(current_.empty() ? 0 : current_.back(), state_.path()[current_.size()]));
  return current_.empty() ? 0 : current_.back();
}

std::vector<SearchTree::Id> SearchTree::keep(std::span<const Id> wanted) {
  std::vector<std::uint8_t> kept(nodes_.size(), 0);
  const auto mark = [&](Id id) {
    for (; id != 0 && kept[id] == 0; id = nodes_[id].parent) kept[id] = 1;
  };
  for (const Id id : wanted) mark(id);
  if (!current_.empty()) mark(current_.back());
  std::vector<Id> moved(nodes_.size(), 0);  // parents come before their children
  Id next = 1;
  for (Id id = 1; id < nodes_.size(); ++id) {
    if (kept[id] == 0) continue;
    moved[id] = next;
    nodes_[next++] = {moved[nodes_[id].parent], nodes_[id].match};
  }
  nodes_.resize(next);
  for (Id& id : current_) id = moved[id];
  std::vector<Id> ids;
  for (const Id id : wanted) ids.push_back(moved[id]);
  return ids;
}

void SearchTree::go_to(Id id) {
  std::vector<Id> way;
  for (Id at = id; at != 0; at = nodes_[at].parent) way.push_back(at);
  std::reverse(way.begin(), way.end());
  const std::size_t shorter = std::min(way.size(), current_.size());
  const auto common = static_cast<std::size_t>(
      std::mismatch(way.begin(), way.begin() + static_cast<std::ptrdiff_t>(shorter), current_.begin()).first -
      way.begin());
  state_.rewind_to(common);
  current_.resize(common);
  for (std::size_t i = common; i < way.size(); ++i) {
    state_.apply(nodes_[way[i]].match);
    current_.push_back(way[i]);
  }
}

}
