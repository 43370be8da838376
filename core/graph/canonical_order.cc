#include "core/graph/canonical_order.h"

#include <algorithm>
#include <utility>

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
  pass<Hashes::merkle>();
  if (tie_) {
    hash_uses();
    pass<Hashes::merkle_and_uses>();
  }
  fresh_ = true;
}

void CanonicalOrder::note_edits() {
  const std::size_t bound = std::max<std::size_t>(graph_.id_bound(), inputs_.size());
  operations_.resize(bound);
  merkle_.resize(bound);
  inputs_.resize(bound, 0);
  positions_.resize(bound, 0);
  stale_.resize(bound, 0);
  listed_.resize(bound, 0);
  source_.resize(bound, 0);
  std::erase_if(touched_, [&](NodeId id) { return id >= bound; });  // came and went
  std::sort(touched_.begin(), touched_.end());
  touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
  for (const NodeId id : touched_) note_edit(id);
  std::erase_if(sources_, [&](const Ready& source) { return source_[source.node] == 0; });
  constexpr std::size_t kFew = 16;  // up to here, sorting in is cheaper than sorting anew
  const auto by_hash = [&](Ready a, Ready b) {
    return a.key != b.key ? a.key < b.key : merkle_[a.node] < merkle_[b.node];
  };
  const std::size_t kept = sources_.size();
  for (const NodeId id : touched_) {
    if (!listed_[id] || inputs_[id] > 0) continue;
    source_[id] = 1;
    settle(id);
    sources_.push_back({merkle_[id].low, id});
  }
  if (sources_.size() > kept + kFew) std::sort(sources_.begin(), sources_.end(), by_hash);
  const auto first_new = sources_.begin() + static_cast<std::ptrdiff_t>(kept);
  for (auto at = first_new; at != sources_.end() && sources_.size() <= kept + kFew; ++at)
    std::rotate(std::upper_bound(sources_.begin(), at, *at, by_hash), at, at + 1);
  touched_.clear();
}

void CanonicalOrder::note_edit(NodeId id) {
  source_[id] = 0;
  count_ -= std::exchange(listed_[id], 0);
  if (!graph_.alive(id)) return;
  operations_[id] = operation_hash(graph_, id);
  stale_[id] = 1;
  positions_[id] = 0;
  const Node& node = graph_.node(id);
  if (node.kind == OpKind::weight) return settle(id);
  count_ += listed_[id] = 1;
  inputs_[id] = static_cast<std::uint32_t>(std::ranges::count_if(node.inputs, [&](Value value) {
    return value.present() && graph_.node(value.node).kind != OpKind::weight;
  }));
}

Hash128 CanonicalOrder::hash_of(NodeId id) const {
  return merkle_hash(operations_[id], graph_.node(id), merkle_);
}

// Hashes a node that may have changed, once all its inputs are hashed, and tells its users.
void CanonicalOrder::settle(NodeId id) {
  stale_[id] = 0;
  const Hash128 now = hash_of(id);
  if (now == merkle_[id]) return;
  merkle_[id] = now;
  for (const Use& use : graph_.uses(id))
    if (use.user != kGraphOutput) stale_[use.user] = 1;
}

template <CanonicalOrder::Hashes kKnown>
bool CanonicalOrder::before_by_all(NodeId a, NodeId b) {
  if (merkle_[a] != merkle_[b]) return merkle_[a] < merkle_[b];
  tie_ = true;
  if (kKnown == Hashes::merkle_and_uses && down_[a] != down_[b]) return down_[a] < down_[b];
  return a < b;  // interchangeable nodes: either order gives the same graph
}

template <CanonicalOrder::Hashes kKnown>
void CanonicalOrder::pass() {
  waiting_ = inputs_;
  order_.resize(count_);
  ready_.clear();
  tie_ = false;
  const auto after = [&](Ready a, Ready b) { return before<kKnown>(b, a); };
  if (kKnown == Hashes::merkle_and_uses)
    std::sort(sources_.begin(), sources_.end(), [&](Ready a, Ready b) { return before<kKnown>(a, b); });
  for (std::size_t i = 1; i < sources_.size(); ++i) before<kKnown>(sources_[i - 1], sources_[i]);
  std::size_t source = 0;
  std::uint32_t placed = 0;
  while (source < sources_.size() || !ready_.empty()) {
    NodeId id;
    if (ready_.empty() || (source < sources_.size() && before<kKnown>(sources_[source], ready_.front()))) {
      id = sources_[source++].node;
    } else {
      id = ready_.front().node;
      std::pop_heap(ready_.begin(), ready_.end(), after);
      ready_.pop_back();
    }
    positions_[id] = placed;
    order_[placed++] = id;
    for (const Use& use : graph_.uses(id)) {
      if (use.user == kGraphOutput || --waiting_[use.user] != 0) continue;
      if (kKnown == Hashes::merkle && stale_[use.user]) settle(use.user);
      ready_.push_back({merkle_[use.user].low, use.user});
      std::push_heap(ready_.begin(), ready_.end(), after);
    }
  }
  if (placed != order_.size()) throw GraphError("the graph has a cycle", "graph", "");
}

// By the order of the first pass, which is topological whatever was tied in it.
void CanonicalOrder::hash_uses() {
  down_.resize(merkle_.size());
  for (auto at = order_.rbegin(); at != order_.rend(); ++at)
    down_[*at] = uses_hash(graph_, *at, merkle_, down_);
}

}
