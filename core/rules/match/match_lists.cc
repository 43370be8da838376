#include "core/rules/match/match_lists.h"

#include <algorithm>
#include <utility>

namespace regraft::rules {

using graph::NodeId;

void MatchLists::begin(const std::vector<std::uint32_t>& position) {
  position_ = &position;
  for (List& list : lists_) list.size = 0;
  deferred_.clear();
  first_deferred_.resize(std::max(first_deferred_.size(), position.size()), kNone);
  count_ = 0;
}

bool MatchLists::before(const Match& a, const Match& b) const {
  return std::lexicographical_compare(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(),
                                      [&](NodeId x, NodeId y) { return (*position_)[x] < (*position_)[y]; });
}

void MatchLists::add(const Match& match) {
  List& list = lists_[match.rule];
  if (list.size == list.matches.size()) list.matches.emplace_back();
  Match* later = list.matches.data() + list.size;
  later->rule = match.rule;
  later->nodes = match.nodes;
  for (; later > list.matches.data(); --later) {
    Match& earlier = later[-1];
    if (earlier.nodes[0] != later->nodes[0] || !before(*later, earlier)) break;
    std::swap(earlier, *later);
  }
  ++list.size;
  ++count_;
}

void MatchLists::defer(const Match& match) {
  std::uint32_t& first = first_deferred_[match.nodes[0]];
  deferred_.push_back({&match, first});
  first = static_cast<std::uint32_t>(deferred_.size() - 1);
}

void MatchLists::add_all_deferred(NodeId root) {
  std::uint32_t at = std::exchange(first_deferred_[root], kNone);
  for (; at != kNone; at = deferred_[at].next) add(*deferred_[at].match);
}

}
