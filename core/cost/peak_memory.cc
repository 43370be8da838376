#include "core/cost/peak_memory.h"

#include <utility>

namespace regraft::cost {

using graph::kNoNode;
using graph::NodeId;

void PeakMemory::update(const graph::Graph& graph, std::span<const NodeId> touched) {
  if (records_.size() < graph.id_bound()) records_.resize(graph.id_bound());
  order_.grow(records_.size());
  for (const NodeId id : touched) {
    if (id >= records_.size()) continue;  // it came and went
    if (!graph.alive(id)) set(id, 0, kNoNode);
    if (!all_touched_) touched_.push_back(id);
  }
  if (RunOrder::are_few(graph, touched_.size())) return;
  all_touched_ = true;
  touched_.clear();
}

void PeakMemory::set(NodeId id, std::int64_t bytes, NodeId shares) {
  Record& record = records_[id];
  if (record.bytes == bytes && record.shares == shares) return;
  note(id);
  if (record.shares != shares) {
    if (record.shares != kNoNode) note(record.shares);
    if (shares != kNoNode) note(shares);
  }
  record.bytes = bytes;
  record.shares = shares;
}

std::int64_t PeakMemory::bytes(const graph::Graph& graph) {
  follow(graph);
  find_holders();
  for (const NodeId id : holders_) {
    records_[id].asked = false;
    if (order_.line().holds(id))
      hold(id, records_[id].bytes, last_reader(graph, id));
    else
      hold(id, 0, kNoNode);  // dead, or a weight
  }
  holders_.clear();
  return order_.line().peak();
}

void PeakMemory::note(NodeId id) {
  if (!std::exchange(records_[id].stale, true)) stale_.push_back(id);
}

/// Has the order follow; what is touched, and what is read by nodes that moved, may end elsewhere.
void PeakMemory::follow(const graph::Graph& graph) {
  const auto moved = all_touched_ ? order_.make_anew(graph) : order_.update(graph, touched_);
  for (NodeId id = 0; moved.all && id < records_.size(); ++id) {
    records_[id].given = 0;
    records_[id].reader = kNoNode;
    note(id);
  }
  for (const NodeId id : touched_) note(id);
  for (const NodeId id : moved.nodes)
    for (const graph::Value value : graph.node(id).inputs)
      if (value.present() && order_.line().holds(value.node)) note(value.node);
  touched_.clear();
  all_touched_ = false;
}

/// Views lie in their input, which may be a view.
NodeId PeakMemory::holder_of(NodeId id) const {
  while (records_[id].shares != kNoNode) id = records_[id].shares;
  return id;
}

void PeakMemory::find_holders() {
  for (const NodeId id : stale_) {
    records_[id].stale = false;
    const NodeId holder = holder_of(id);
    if (holder != id) hold(id, 0, kNoNode);
    if (!std::exchange(records_[holder].asked, true)) holders_.push_back(holder);
  }
  stale_.clear();
}

/// The last reader of all nodes that lie in this memory, or none where one of them is a graph output.
NodeId PeakMemory::last_reader(const graph::Graph& graph, NodeId holder) {
  const LiveProfile& line = order_.line();
  NodeId last = holder;
  group_.assign(1, holder);
  for (std::size_t at = 0; at < group_.size(); ++at) {
    const NodeId id = group_[at];
    NodeId before = kNoNode;
    for (const graph::Use& use : graph.uses(id)) {
      if (use.user == graph::kGraphOutput) return kNoNode;
      if (std::exchange(before, use.user) == use.user) continue;
      if (line.position(last) < line.position(use.user)) last = use.user;
      if (records_[use.user].shares == id) group_.push_back(use.user);
    }
  }
  return last;
}

void PeakMemory::hold(NodeId id, std::int64_t bytes, NodeId reader) {
  Record& record = records_[id];
  LiveProfile& line = order_.line();
  line.set_taken(id, bytes);
  const std::int64_t given = reader == kNoNode ? 0 : bytes;
  if (record.reader == reader && record.given == given) return;
  if (record.reader != kNoNode) line.give_more(record.reader, -record.given);
  if (reader != kNoNode) line.give_more(reader, given);
  record.reader = reader;
  record.given = given;
}

}
