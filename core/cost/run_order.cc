#include "core/cost/run_order.h"

#include <algorithm>
#include <utility>

namespace regraft::cost {

using graph::NodeId;

namespace {

bool is_weight(const graph::Graph& graph, NodeId id) {
  return graph.node(id).kind == graph::OpKind::weight;
}

bool has_inputs(const graph::Graph& graph, NodeId id) {
  return std::ranges::any_of(graph.node(id).inputs, [](graph::Value value) { return value.present(); });
}

}  // namespace

RunOrder::Moved RunOrder::update(const graph::Graph& graph, std::span<const NodeId> touched) {
  if (!are_few(graph, touched.size()) || line_.is_sparse()) return make_anew(graph);
  moved_.clear();
  queue_.clear();
  for (const NodeId id : touched) open_touched(graph, id);
  for (std::size_t at = 0; at < queue_.size(); ++at) {
    if (!are_few(graph, at)) return make_anew(graph);
    settle(graph, queue_[at]);
  }
  return {false, moved_};
}

void RunOrder::open_touched(const graph::Graph& graph, NodeId id) {
  if (note_source(graph, id)) open_users(graph, id);
  if (graph.alive(id) && !is_weight(graph, id))
    open(id);
  else if (line_.holds(id))
    line_.erase(id);
}

void RunOrder::grow(std::size_t bound) {
  if (states_.size() >= bound) return;
  line_.grow(bound);
  states_.resize(bound);
}

/// Whether it has become, or is no longer, one without inputs.
bool RunOrder::note_source(const graph::Graph& graph, NodeId id) {
  const bool source = graph.alive(id) && !has_inputs(graph, id);
  return std::exchange(states_[id].source, source) != source && graph.alive(id);
}

void RunOrder::open(NodeId id) {
  states_[id].open = true;
  if (!std::exchange(states_[id].waiting, true)) queue_.push_back(id);
}

void RunOrder::open_users(const graph::Graph& graph, NodeId id) {
  for (const graph::Use& use : graph.uses(id))
    if (use.user != graph::kGraphOutput) open(use.user);
}

void RunOrder::settle(const graph::Graph& graph, NodeId id) {
  states_[id].waiting = false;
  if (!find_last(graph, id)) return;  // it is opened again when its inputs have their places
  const bool held = line_.holds(id);
  if (!held || !stands_right(id)) {
    open_users(graph, id);
    if (held) line_.erase(id);
    place(id);
    moved_.push_back(id);
  }
  states_[id].open = false;
}

/// What it runs after, as far as all of that stands in the line.
bool RunOrder::find_last(const graph::Graph& graph, NodeId id) {
  NodeId source = graph::kNoNode, last = graph::kNoNode;
  for (const graph::Value value : graph.node(id).inputs) {
    if (!value.present()) continue;
    if (states_[value.node].source) {
      if (source == graph::kNoNode || value.node > source) source = value.node;
    } else if (!line_.holds(value.node)) {
      return false;
    } else if (last == graph::kNoNode || line_.position(last) < line_.position(value.node)) {
      last = value.node;
    }
  }
  State& state = states_[id];
  state.last = last != graph::kNoNode ? last : source;
  state.by = last != graph::kNoNode ? By::parent : source != graph::kNoNode ? By::source : By::own_id;
  return true;
}

RunOrder::Key RunOrder::key(NodeId id) const {
  const State& state = states_[id];
  if (state.by == By::own_id) return {state.by, 0, id};
  return {state.by, state.by == By::source ? state.last : line_.position(state.last), id};
}

// Between the nearest neighbours of which it is known that they do.
bool RunOrder::stands_right(NodeId id) const {
  NodeId before = line_.before(id), after = line_.after(id);
  while (before != graph::kNoNode && states_[before].open) before = line_.before(before);
  while (after != graph::kNoNode && states_[after].open) after = line_.after(after);
  const Key own = key(id);
  return (before == graph::kNoNode || key(before) < own) && (after == graph::kNoNode || own < key(after));
}

void RunOrder::place(NodeId id) {
  const Key own = key(id);
  const auto side = [&](NodeId other) {
    if (states_[other].open) return LiveProfile::Side::unknown;
    return key(other) < own ? LiveProfile::Side::left : LiveProfile::Side::right;
  };
  line_.insert_after(line_.last_on_left(side), id);
}

RunOrder::Moved RunOrder::make_anew(const graph::Graph& graph) {
  line_.clear();
  missing_.assign(graph.id_bound(), 0);
  queue_.clear();
  std::fill(states_.begin(), states_.end(), State{});
  for (NodeId id = 0; id < graph.id_bound(); ++id) {
    note_source(graph, id);
    if (states_[id].source && !is_weight(graph, id)) line_.append(id);
  }
  for (NodeId id = 0; id < graph.id_bound(); ++id) {
    if (!graph.alive(id) || states_[id].source) continue;
    for (const graph::Value value : graph.node(id).inputs)
      if (value.present() && !states_[value.node].source) ++missing_[id];
    if (missing_[id] == 0 && find_last(graph, id)) queue_.push_back(id);
  }
  std::sort(queue_.begin(), queue_.end(), [&](NodeId a, NodeId b) { return key(a) < key(b); });
  for (std::size_t at = 0; at < queue_.size(); ++at) {
    const NodeId id = queue_[at];
    line_.append(id);
    for (const graph::Use& use : graph.uses(id)) {
      if (use.user == graph::kGraphOutput || --missing_[use.user] != 0) continue;
      states_[use.user].last = id;
      states_[use.user].by = By::parent;
      queue_.push_back(use.user);
    }
  }
  return {true, {}};
}

}
