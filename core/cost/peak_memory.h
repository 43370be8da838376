#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/graph/graph.h"

namespace regraft::cost {

/// The largest sum of live tensors when the nodes run in topological order (first ready, first run; ids
/// ascending at the start) and a tensor is freed after its last use. By node id: `bytes` of its outputs, and
/// `shares` the node whose memory they are in, or kNoNode when they are its own. Graph outputs are never
/// freed.
std::int64_t peak_bytes(const graph::Graph& graph, std::span<const std::int64_t> bytes,
                        std::span<const graph::NodeId> shares);

/// The same of a graph that is edited. Nodes without inputs (weights, most of all) run first and make nothing
/// ready that is not known beforehand: which nodes read them alone, in the order in which they become so. Of
/// the others it is kept how many inputs are still to come then. One thread.
class PeakMemory {
 public:
  /// Call after edits, first with all nodes; ids that are dead count too.
  void update(const graph::Graph& graph, std::span<const graph::NodeId> touched);
  std::int64_t bytes(const graph::Graph& graph, std::span<const std::int64_t> bytes,
                     std::span<const graph::NodeId> shares);

 private:
  struct State {
    std::uint32_t inputs = 0;   // that no source makes
    std::uint32_t waiting = 0;  // those of them that are still to come; all of them between passes
    std::uint32_t readers = 0;  // of its memory, still to come
    graph::NodeId holder = graph::kNoNode;
  };
  /// A node that reads sources alone is ready after the last of them.
  struct Early {
    graph::NodeId last_source = graph::kNoNode, node = graph::kNoNode;
    auto operator<=>(const Early&) const = default;
  };

  bool is_source(graph::NodeId id) const { return source_[id] != 0; }
  void note(const graph::Graph& graph, graph::NodeId id);

  std::vector<State> states_;               // by node
  std::vector<std::uint8_t> source_;        // by node
  std::vector<graph::NodeId> sources_;      // live nodes without inputs, ascending
  std::vector<Early> early_;                // ascending
  std::vector<graph::NodeId> last_source_;  // by node: of its entry in early_, or kNoNode
  std::vector<graph::NodeId> order_, moved_;
};

}  // namespace regraft::cost
