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

/// The same again and again: keeps its working memory. One thread.
class PeakMemory {
 public:
  std::int64_t bytes(const graph::Graph& graph, std::span<const std::int64_t> bytes,
                     std::span<const graph::NodeId> shares);

 private:
  struct State {
    std::uint32_t waiting = 0, readers = 0;
    graph::NodeId holder = graph::kNoNode;
  };
  std::vector<State> states_;  // by node
  std::vector<graph::NodeId> order_;
};

}  // namespace regraft::cost
