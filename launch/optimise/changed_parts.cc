#include "launch/optimise/changed_parts.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "core/graph/order.h"

namespace regraft::launch {
namespace {

using graph::Graph;
using graph::NodeId;
using graph::Value;

std::string text_of(const Graph& graph, NodeId id) {
  const graph::OpKind kind = graph.node(id).kind;
  if (kind == graph::OpKind::input) return "input";
  if (kind == graph::OpKind::weight) return "weight";
  return kind == graph::OpKind::opaque ? "operation" : std::string(graph::op_info(kind).name);
}

/// Both states of a graph. A place is a node of one of them: first those of `before`, by id.
class Comparison {
 public:
  Comparison(const Graph& before, const Graph& after)
      : sides_{&before, &after}, bound_(std::max(before.id_bound(), after.id_bound())), roots_(2 * bound_) {
    std::iota(roots_.begin(), roots_.end(), std::size_t{0});
    for (std::size_t side = 0; side < 2; ++side)
      for (const NodeId id : graph::topological_order(*sides_[side])) compare(side, id);
    for (std::size_t i = 0; i < before.outputs().size(); ++i) join(before.outputs()[i], after.outputs()[i]);
  }

  std::vector<ChangedPart> parts() {
    std::map<std::size_t, ChangedPart> by_root;
    for (std::size_t side = 0; side < 2; ++side) add_boxes(side, by_root);
    std::vector<ChangedPart> parts;
    for (auto& [root, part] : by_root) {
      const auto alike = std::ranges::find_if(parts, [&](const ChangedPart& other) {
        return other.before == part.before && other.after == part.after;
      });
      if (alike == parts.end())
        parts.push_back(std::move(part));
      else
        ++alike->count;
    }
    return parts;
  }

 private:
  bool changed(std::size_t side, NodeId id) const {
    const Graph &graph = *sides_[side], &other = *sides_[1 - side];
    return graph::is_operation(graph.node(id).kind) &&
           !(other.alive(id) && graph.node(id).kind == other.node(id).kind &&
             graph::operation_hash(graph, id) == graph::operation_hash(other, id));
  }

  /// Changed nodes are joined with those that they read; what replaces a value, with what made it before.
  void compare(std::size_t side, NodeId id) {
    const auto& inputs = sides_[side]->node(id).inputs;
    if (changed(side, id)) {
      for (const Value value : inputs)
        if (value.present() && changed(side, value.node)) unite(place(side, id), place(side, value.node));
    } else if (side == 0 && sides_[1]->alive(id)) {
      const auto& others = sides_[1]->node(id).inputs;
      for (std::size_t i = 0; i < std::min(inputs.size(), others.size()); ++i) join(inputs[i], others[i]);
    }
  }

  void join(Value before, Value after) {
    if (before.present() && after.present() && changed(0, before.node) && changed(1, after.node))
      unite(place(0, before.node), place(1, after.node));
  }

  void add_boxes(std::size_t side, std::map<std::size_t, ChangedPart>& parts) {
    const Graph& graph = *sides_[side];
    std::map<std::size_t, std::map<Value, std::size_t>> boxes;  // by root: those of values
    for (const NodeId id : graph::topological_order(graph)) {
      if (!changed(side, id)) continue;
      const std::size_t root = root_of(place(side, id));
      auto& list = side == 0 ? parts[root].before : parts[root].after;
      ChangedPart::Box box{text_of(graph, id), graph.tables().describe(graph.type_id({id, 0})), false, {}};
      for (const Value value : graph.node(id).inputs) {
        if (!value.present()) continue;
        const Value read = changed(side, value.node) ? Value{value.node, 0} : value;
        const auto [held, is_new] = boxes[root].try_emplace(read, list.size());
        if (is_new)
          list.push_back(
              {text_of(graph, value.node), graph.tables().describe(graph.type_id(value)), true, {}});
        box.inputs.push_back(held->second);
      }
      boxes[root].emplace(Value{id, 0}, list.size());
      list.push_back(std::move(box));
    }
  }

  std::size_t place(std::size_t side, NodeId id) const { return side * bound_ + id; }
  std::size_t root_of(std::size_t place) {
    while (roots_[place] != place) place = roots_[place] = roots_[roots_[place]];
    return place;
  }
  void unite(std::size_t a, std::size_t b) {
    const auto [low, high] = std::minmax({root_of(a), root_of(b)});
    roots_[high] = low;
  }

  std::array<const Graph*, 2> sides_;
  std::size_t bound_;
  std::vector<std::size_t> roots_;  // of each place: a place of the same part
};

}  // namespace

std::vector<ChangedPart> changed_parts(const Graph& before, const Graph& after) {
  return Comparison(before, after).parts();
}

}
