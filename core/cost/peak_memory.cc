#include "core/cost/peak_memory.h"

#include <algorithm>
#include <numeric>

namespace regraft::cost {

using graph::NodeId;

std::int64_t peak_bytes(const graph::Graph& graph, std::span<const std::int64_t> bytes,
                        std::span<const NodeId> shares) {
  std::vector<NodeId> all(graph.id_bound());
  std::iota(all.begin(), all.end(), NodeId{0});
  PeakMemory peak;
  peak.update(graph, all);
  for (const NodeId id : all)
    if (graph.alive(id)) peak.set(id, bytes[id], shares[id]);
  return peak.bytes(graph);
}

void PeakMemory::update(const graph::Graph& graph, std::span<const NodeId> touched) {
  const std::size_t bound = std::max<std::size_t>(graph.id_bound(), records_.size());
  records_.resize(bound);
  source_.resize(bound, Source::none);
  last_source_.resize(bound, graph::kNoNode);
  moved_.clear();
  const auto place = [&](NodeId id) { return std::lower_bound(sources_.begin(), sources_.end(), id); };
  const auto now = [&](NodeId id) {
    const auto present = [](graph::Value value) { return value.present(); };
    if (!graph.alive(id) || std::ranges::any_of(graph.node(id).inputs, present)) return Source::none;
    return graph.node(id).kind == graph::OpKind::weight ? Source::weight : Source::other;
  };
  for (const NodeId id : touched) {
    if (id >= bound) continue;
    const Source before = source_[id];
    source_[id] = now(id);
    if (source_[id] == before) continue;
    if (before == Source::other) sources_.erase(place(id));
    if (source_[id] == Source::other) sources_.insert(place(id), id);
    if (graph.alive(id)) moved_.push_back(id);
  }
  for (const NodeId id : touched)
    if (id < bound) note(graph, id);
  for (const NodeId id : moved_)
    for (const graph::Use& use : graph.uses(id))
      if (use.user != graph::kGraphOutput) note(graph, use.user);
}

void PeakMemory::note(const graph::Graph& graph, NodeId id) {
  Record& record = records_[id];
  NodeId last = graph::kNoNode;
  record.inputs = record.uses = 0;
  record.users = record.operands = 0;
  record.holder = id;  // for good, where no pass comes: at weights
  if (graph.alive(id)) {
    for (const graph::Value value : graph.node(id).inputs) {
      if (!value.present()) continue;
      if (!is_source(value.node)) {
        ++record.inputs;
      } else if (last == graph::kNoNode || value.node > last) {
        last = value.node;
      }
    }
    if (source_[id] != Source::weight) note_neighbours(graph, id);
  }
  record.waiting = record.inputs;
  note_last_source(id, record.inputs == 0 ? last : graph::kNoNode);
}

void PeakMemory::note_neighbours(const graph::Graph& graph, NodeId id) {
  Record& record = records_[id];
  record.uses = static_cast<std::uint32_t>(graph.uses(id).size());
  std::size_t count = 0;
  const auto add = [&](NodeId neighbour) {
    if (count < kNeighbours) record.neighbours[count] = neighbour;
    ++count;
  };
  for (const graph::Use& use : graph.uses(id))
    if (use.user != graph::kGraphOutput) add(use.user);
  const std::size_t users = count;
  for (const graph::Value value : graph.node(id).inputs)
    if (value.present() && source_[value.node] != Source::weight) add(value.node);
  const bool fits = count <= kNeighbours;
  record.users = fits ? static_cast<std::uint8_t>(users) : kMany;
  record.operands = fits ? static_cast<std::uint8_t>(count - users) : kMany;
}

void PeakMemory::note_last_source(NodeId id, NodeId last) {
  NodeId& held = last_source_[id];
  if (last == held) return;
  const auto place = [&](NodeId source) {
    return std::lower_bound(early_.begin(), early_.end(), Early{source, id});
  };
  if (held != graph::kNoNode) early_.erase(place(held));
  if (last != graph::kNoNode) early_.insert(place(last), Early{last, id});
  held = last;
}

std::span<const NodeId> PeakMemory::users(const graph::Graph& graph, const Record& record, NodeId id) {
  if (record.users != kMany) return {record.neighbours.data(), record.users};
  many_.clear();
  for (const graph::Use& use : graph.uses(id))
    if (use.user != graph::kGraphOutput) many_.push_back(use.user);
  return many_;
}

std::span<const NodeId> PeakMemory::operands(const graph::Graph& graph, const Record& record, NodeId id) {
  if (record.users != kMany) return {record.neighbours.data() + record.users, record.operands};
  many_.clear();
  for (const graph::Value value : graph.node(id).inputs)
    if (value.present()) many_.push_back(value.node);
  return many_;
}

std::int64_t PeakMemory::bytes(const graph::Graph& graph) {
  Record* const records = records_.data();
  std::int64_t live = 0, peak = 0;
  const auto start = [&](NodeId id) {
    Record& record = records[id];
    if (record.shares == graph::kNoNode) {
      record.holder = id;
      record.readers = record.uses;
      live += record.bytes;
      peak = std::max(peak, live);
      if (record.readers == 0) live -= record.bytes;
    } else {
      record.holder = records[record.shares].holder;
      records[record.holder].readers += record.uses;
    }
  };
  for (const NodeId id : sources_) start(id);
  order_.resize(graph.live_count());
  NodeId* const order = order_.data();
  std::size_t ready = 0;
  for (const Early& early : early_) order[ready++] = early.node;
  for (std::size_t at = 0; at < ready; ++at) {
    const NodeId id = order[at];
    start(id);
    Record& record = records[id];
    for (const NodeId user : users(graph, record, id))
      if (--records[user].waiting == 0) order[ready++] = user;
    record.waiting = record.inputs;
    for (const NodeId operand : operands(graph, record, id)) {
      Record& held = records[records[operand].holder];
      if (--held.readers == 0) live -= held.bytes;
    }
  }
  return peak;
}

}  // namespace regraft::cost
