#include "core/exec/site/site.h"

#include <string>
#include <vector>

#include "core/exec/runtime/exec_error.h"
#include "core/graph/order.h"

namespace regraft::exec {
namespace {

using graph::Graph;
using graph::NodeId;
using graph::OpKind;
using graph::Value;

class SiteFinder {
 public:
  SiteFinder(const Graph& before, const Graph& after, Leaves leaves)
      : before_(before), after_(after), leaves_(leaves) {}

  Site run(std::span<const NodeId> matched, std::span<const Value> replacing) {
    collect_left(matched);
    for (const Value& leaf : site_.leaves) leaf_nodes_.push_back(leaf.node);
    if (leaves_ == Leaves::related) relate_leaves();
    collect_right(replacing);
    return std::move(site_);
  }

 private:
  void collect_left(std::span<const NodeId> matched) {
    site_.left.insert(matched.begin(), matched.end());
    for (const NodeId id : site_.left) {
      if (!before_.alive(id)) {
        throw ExecError("matched node " + std::to_string(id) + " is not in the graph", "site check", "");
      }
      for (const Value& input : before_.node(id).inputs) {
        if (!input.present() || site_.left.contains(input.node)) continue;
        if (before_.node(input.node).kind != OpKind::weight) site_.leaves.insert(input);
      }
    }
  }

  void relate_leaves() {
    std::vector<Value> dependent;
    for (const Value& leaf : site_.leaves) {
      std::vector<NodeId> others;
      for (const Value& other : site_.leaves)
        if (other.node != leaf.node) others.push_back(other.node);
      if (!others.empty() && graph::reaches(before_, others, leaf.node)) dependent.push_back(leaf);
    }
    for (const Value& leaf : dependent) {
      site_.leaves.erase(leaf);
      std::erase(leaf_nodes_, leaf.node);
    }
    for (const Value& leaf : dependent) take_existing(leaf);
  }

  void collect_right(std::span<const Value> replacing) {
    std::vector<Value> waiting(replacing.begin(), replacing.end());
    while (!waiting.empty()) {
      const Value value = waiting.back();
      waiting.pop_back();
      if (!after_.alive(value.node))
        throw ExecError("a replacing value is not in the graph", "site check", "");
      if (after_.node(value.node).kind == OpKind::weight) continue;
      if (before_.alive(value.node)) {
        take_existing(value);
      } else if (site_.right.insert(value.node).second) {
        for (const Value& input : after_.node(value.node).inputs) {
          if (input.present()) waiting.push_back(input);
        }
      }
    }
  }

  /// A value that was there before: shared where it is computed from the left side's leaves, else free.
  void take_existing(Value value) {
    if (site_.leaves.contains(value)) return;
    if (!is_computed(value)) {
      site_.leaves.insert(value);
      return;
    }
    if (!site_.shared.insert(value).second || site_.left.contains(value.node)) return;
    for (const Value& input : before_.node(value.node).inputs) {
      if (input.present() && before_.node(input.node).kind != OpKind::weight) take_inner(input);
    }
  }

  /// An input of a shared value: computed with it, or free.
  void take_inner(Value value) {
    if (site_.leaves.contains(value) || !seen_.insert(value).second || site_.left.contains(value.node))
      return;
    if (!is_computed(value)) {
      site_.leaves.insert(value);
      return;
    }
    for (const Value& input : before_.node(value.node).inputs) {
      if (input.present() && before_.node(input.node).kind != OpKind::weight) take_inner(input);
    }
  }

  bool is_computed(Value value) const {
    if (site_.left.contains(value.node)) return true;
    for (const NodeId leaf : leaf_nodes_) {
      if (leaf == value.node) return false;  // another output of a leaf's node
    }
    return graph::reaches(before_, leaf_nodes_, value.node);
  }

  const Graph& before_;
  const Graph& after_;
  Leaves leaves_;
  Site site_;
  std::vector<NodeId> leaf_nodes_;
  std::set<Value> seen_;
};

}  // namespace

Site find_site(const Graph& before, const Graph& after, std::span<const NodeId> matched,
               std::span<const Value> replacing, Leaves leaves) {
  return SiteFinder(before, after, leaves).run(matched, replacing);
}

}
