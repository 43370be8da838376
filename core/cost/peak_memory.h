#pragma once

#include <cstdint>
#include <span>

#include "core/graph/graph.h"

namespace regraft::cost {

/// The largest sum of live tensors when the nodes run in topological order (first ready, first run; ids
/// ascending at the start) and a tensor is freed after its last use. By node id: `bytes` of its outputs, and
/// `shares` the node whose memory they are in, or kNoNode when they are its own. Graph outputs are never
/// freed.
std::int64_t peak_bytes(const graph::Graph& graph, std::span<const std::int64_t> bytes,
                        std::span<const graph::NodeId> shares);

}  // namespace regraft::cost
