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

/// The same of a graph that is edited: keeps its working memory, and how many inputs each node has. One
/// thread.
class PeakMemory {
 public:
  /// Call after edits, first with all nodes; ids that are dead count too.
  void update(const graph::Graph& graph, std::span<const graph::NodeId> touched);
  std::int64_t bytes(const graph::Graph& graph, std::span<const std::int64_t> bytes,
                     std::span<const graph::NodeId> shares);

 private:
  struct State {
    std::uint32_t waiting = 0, readers = 0;
    graph::NodeId holder = graph::kNoNode;
  };
  std::vector<State> states_,
      first_states_;                    // by node; first_states_: as they are before the first node runs
  std::vector<graph::NodeId> sources_;  // live nodes without inputs, ascending
  std::vector<graph::NodeId> order_;
};

}  // namespace regraft::cost
