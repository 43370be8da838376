#pragma once

// Internal to core/rules: where matches may have changed after an edit.

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "core/graph/graph.h"
#include "core/rules/compile/compiled_rule.h"
#include "core/rules/set/rule_set.h"

namespace regraft::rules {

/// Finds the anchors that have to be matched again. Remembers what each node was. So it tells nodes that
/// changed from nodes whose uses alone changed, or that are as before. Local rules see a change as far as
/// `depth` edges below it. The other rules see all that was touched as far as `radius` edges around it. One
/// thread.
class DirtyAnchors {
 public:
  struct Distance {
    std::uint32_t below = 0;   // edges to the nearest change above, a constant's counted as its users'
    std::uint32_t around = 0;  // edges to the nearest touched node
  };

  /// All nodes of the present graph are known as they are. Both arguments outlive it.
  DirtyAnchors(const RuleSet& rules, const graph::Graph& graph);

  /// Whether a rule, by its number, may see a change so far from its anchor.
  bool sees(std::uint32_t rule, const Distance& change) const {
    const Sight& sight = sights_[rule];
    return sight.edges >= (sight.local ? change.below : change.around);
  }

  /// Nodes, dead ones included, with their distances from what changed; valid until the next call.
  const std::vector<std::pair<graph::NodeId, Distance>>& after(std::span<const graph::NodeId> touched);

  /// Whether, as of after(), the graph is the one that it was made on: the same nodes and outputs.
  bool at_first() const {
    return displaced_count_ == 0 && std::ranges::equal(graph_.outputs(), first_outputs_);
  }

 private:
  /// How far a rule sees; here, since matching asks for many rules that it does not reach.
  struct Sight {
    bool local = false;
    std::uint32_t edges = 0;
  };
  struct Stamp {
    bool alive = false;
    graph::SignatureId signature{};
    std::uint64_t weight = 0;  // its contents: ids of weights may be given to others
    InlineVector<graph::Value, 4> inputs;

    bool operator==(const Stamp& other) const;
  };

  Stamp stamp_of(graph::NodeId id) const;
  /// Whether the node is another than when it was last asked for.
  bool changed(graph::NodeId id);
  void spread_below(std::span<const graph::NodeId> touched);
  void spread_around(std::span<const graph::NodeId> touched);
  void enter(graph::NodeId id, std::uint32_t distance, std::uint32_t Distance::*which);

  const graph::Graph& graph_;
  std::vector<Sight> sights_;             // by rule
  std::uint32_t depth_ = 0, radius_ = 0;  // the largest
  std::vector<Stamp> stamps_, first_;     // by node: as it is, as it was at first
  std::vector<graph::Value> first_outputs_;
  std::vector<std::uint8_t> displaced_;  // by node: is another than at first
  std::size_t displaced_count_ = 0;
  std::vector<std::uint32_t> place_;  // by node: in found_, or kNone
  std::vector<std::pair<graph::NodeId, Distance>> found_;
  std::vector<graph::NodeId> queue_;
};

}
