#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "core/cost/live_profile.h"
#include "core/graph/graph.h"

namespace regraft::cost {

/// The order in which the nodes of a graph run, without weights, while it is edited: topological, first
/// ready, first run; nodes without inputs in front, by id.
///
/// Data flow: a node's place follows from the last of its inputs (its parent) and its own id. Nodes without
/// inputs come first, by id. Then come nodes that read nothing else, by the id of the last input (weights
/// count) and their own. Then come all others, by the place of their parent and their own id. So touched
/// nodes are asked for their parents again. A node that no longer stands between its neighbours is moved, and
/// its users are asked in turn. The cost is that of the nodes that move. Where many move (a reset, or
/// parallel branches that shift against each other), one pass makes the order anew. One thread.
class RunOrder {
 public:
  /// Room for nodes below `bound`, of which update() and make_anew() want enough.
  void grow(std::size_t bound);
  /// What has another place than before: all nodes, or these, perhaps more than once.
  struct Moved {
    bool all = false;
    std::span<const graph::NodeId> nodes;
  };
  /// Follows edits: what was touched since the last call, dead ones included.
  Moved update(const graph::Graph& graph, std::span<const graph::NodeId> touched);
  /// Makes the order anew, by one pass over the graph; nobody in the line takes or gives anything then.
  Moved make_anew(const graph::Graph& graph);
  /// Whether to settle so many nodes one by one is less work than a pass.
  static bool are_few(const graph::Graph& graph, std::size_t nodes) {
    return nodes <= 32 + graph.live_count() / 4;
  }

  LiveProfile& line() { return line_; }
  const LiveProfile& line() const { return line_; }

 private:
  /// What puts a node where it stands; in the order of the line.
  enum class By : std::uint8_t { own_id, source, parent };
  struct State {
    graph::NodeId last = graph::kNoNode;  // of its inputs, or of its sources where it has no others
    By by = By::own_id;
    bool source = false;   // has no inputs
    bool open = false;     // may stand at a wrong place
    bool waiting = false;  // is in queue_
  };
  struct Key {
    By by;
    std::uint64_t major;
    graph::NodeId id;
    auto operator<=>(const Key&) const = default;
  };

  void open_touched(const graph::Graph& graph, graph::NodeId id);
  bool note_source(const graph::Graph& graph, graph::NodeId id);
  void open(graph::NodeId id);
  void open_users(const graph::Graph& graph, graph::NodeId id);
  void settle(const graph::Graph& graph, graph::NodeId id);
  bool find_last(const graph::Graph& graph, graph::NodeId id);
  bool stands_right(graph::NodeId id) const;
  void place(graph::NodeId id);
  Key key(graph::NodeId id) const;

  LiveProfile line_;
  std::vector<State> states_;  // by node
  std::vector<graph::NodeId> queue_, moved_;
  std::vector<std::uint32_t> missing_;  // by node: inputs that have not run; scratch of make_anew
};

}
