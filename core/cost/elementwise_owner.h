#pragma once

#include <functional>

#include "core/cost/fused_matches.h"
#include "core/cost/neighbourhood.h"

namespace regraft::cost {

/// Fusing::elementwise: the node that makes an operand for this node alone, and whose kernel does this one's
/// work on its way out; else kNoNode. What is done so: elementwise operations of the operand's dims, batch
/// norms, and Gelus in parts. The kernel of a product or convolution does those on it and constants, others
/// all. From node to node one comes to the kernel's first.
graph::NodeId elementwise_owner(const Neighbourhood& near, const FusedMatches& matches,
                                const std::function<bool(graph::Value)>& is_constant, graph::NodeId node);

}
