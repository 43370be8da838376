#include "core/graph/canonical.h"

#include <algorithm>
#include <array>

#include "core/graph/order.h"

namespace regraft::graph {

CanonicalOrder::CanonicalOrder(const Graph& graph) : graph_(graph) {
  for (NodeId id = 0; id < graph.id_bound(); ++id) touched_.push_back(id);
}

void CanonicalOrder::update(std::span<const NodeId> touched) {
  touched_.insert(touched_.end(), touched.begin(), touched.end());
  fresh_ = false;
}

std::span<const NodeId> CanonicalOrder::order() {
  refresh();
  return order_;
}

const std::vector<std::uint32_t>& CanonicalOrder::positions() {
  refresh();
  return positions_;
}

void CanonicalOrder::refresh() {
  if (fresh_) return;
  note_edits();
  pass(false);
  if (tie_) {
    hash_uses();
    pass(true);
  }
  fresh_ = true;
}

void CanonicalOrder::note_edits() {
  const std::size_t bound = std::max<std::size_t>(graph_.id_bound(), inputs_.size());
  prefixes_.resize(bound);
  merkle_.resize(bound);
  inputs_.resize(bound, 0);
  positions_.resize(bound, 0);
  stale_.resize(bound, 0);
  source_.resize(bound, 0);
  std::sort(touched_.begin(), touched_.end());
  touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
  for (const NodeId id : touched_)
    if (id < bound) source_[id] = 0;
  std::erase_if(sources_, [&](const Ready& source) { return !source_[source.node]; });
  constexpr std::size_t kFew = 16;  // up to here, sorting in is cheaper than sorting anew
  const auto by_hash = [](const Ready& a, const Ready& b) { return a.merkle < b.merkle; };
  const std::size_t kept = sources_.size();
  for (const NodeId id : touched_) {
    if (!graph_.alive(id)) continue;
    const Node& node = graph_.node(id);
    prefixes_[id] = operation_hasher(graph_, id);
    inputs_[id] = static_cast<std::uint32_t>(
        std::count_if(node.inputs.begin(), node.inputs.end(), [](Value value) { return value.present(); }));
    stale_[id] = 1;
    if (inputs_[id] > 0) continue;
    source_[id] = 1;
    sources_.push_back({hash_of(id), id});
  }
  if (sources_.size() > kept + kFew) std::sort(sources_.begin(), sources_.end(), by_hash);
  const auto first_new = sources_.begin() + static_cast<std::ptrdiff_t>(kept);
  for (auto at = first_new; at != sources_.end() && sources_.size() <= kept + kFew; ++at)
    std::rotate(std::upper_bound(sources_.begin(), at, *at, by_hash), at, at + 1);
  touched_.clear();
}

Hash128 CanonicalOrder::hash_of(NodeId id) const {
  return merkle_hash(prefixes_[id], graph_.node(id), merkle_);
}

// Hashes a node whose inputs all have their place, if it changed, and tells its users.
void CanonicalOrder::settle(NodeId id, bool with_uses) {
  if (with_uses || !stale_[id]) return;
  stale_[id] = 0;
  const Hash128 now = hash_of(id);
  if (now == merkle_[id]) return;
  merkle_[id] = now;
  for (const Use& use : graph_.uses(id))
    if (use.user != kGraphOutput) stale_[use.user] = 1;
}

bool CanonicalOrder::before(const Ready& a, const Ready& b, bool with_uses) {
  if (a.merkle != b.merkle) return a.merkle < b.merkle;
  tie_ = true;
  if (with_uses && down_[a.node] != down_[b.node]) return down_[a.node] < down_[b.node];
  return a.node < b.node;  // interchangeable nodes: either order gives the same graph
}

void CanonicalOrder::pass(bool with_uses) {
  waiting_ = inputs_;
  order_.clear();
  ready_.clear();
  tie_ = false;
  const auto after = [&](const Ready& a, const Ready& b) { return before(b, a, with_uses); };
  if (with_uses)
    std::sort(sources_.begin(), sources_.end(),
              [&](const Ready& a, const Ready& b) { return before(a, b, true); });
  for (std::size_t i = 1; i < sources_.size() && !with_uses; ++i) before(sources_[i - 1], sources_[i], false);
  std::size_t source = 0;
  while (source < sources_.size() || !ready_.empty()) {
    NodeId id;
    if (ready_.empty() || (source < sources_.size() && before(sources_[source], ready_.front(), with_uses))) {
      id = sources_[source++].node;
      settle(id, with_uses);
    } else {
      id = ready_.front().node;
      std::pop_heap(ready_.begin(), ready_.end(), after);
      ready_.pop_back();
    }
    positions_[id] = static_cast<std::uint32_t>(order_.size());
    order_.push_back(id);
    for (const Use& use : graph_.uses(id)) {
      if (use.user == kGraphOutput || --waiting_[use.user] != 0) continue;
      settle(use.user, with_uses);
      ready_.push_back({merkle_[use.user], use.user});
      std::push_heap(ready_.begin(), ready_.end(), after);
    }
  }
  if (order_.size() != graph_.live_count()) throw GraphError("the graph has a cycle", "graph", "");
}

// By the order of the first pass, which is topological whatever was tied in it.
void CanonicalOrder::hash_uses() {
  down_.resize(merkle_.size());
  for (auto at = order_.rbegin(); at != order_.rend(); ++at)
    down_[*at] = uses_hash(graph_, *at, merkle_, down_);
}

}  // namespace regraft::graph
