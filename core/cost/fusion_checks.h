#pragma once

// Internal to core/cost: what FusionRules asks of operands.

#include "core/cost/fused_matches.h"
#include "core/cost/neighbourhood.h"

namespace regraft::cost {

/// One value a channel of an NCHW tensor: [C, 1, 1] or [1, C, 1, 1].
bool is_channelwise(const graph::TensorType& type);

/// Swaps the last two dims; or moves the first dim behind the batch dims, with or without that swap.
bool fits_matmul(const graph::Ints& perm);

/// Whether the runtime makes a Gemm of a product and the addition of this to it.
bool takes_bias(const graph::Graph& graph, const Neighbourhood& near, graph::NodeId matmul,
                graph::Value bias);

/// The norm that takes an addition, or the Gelu, as one operation or in parts, that alone reads what a node
/// computes.
graph::NodeId whole_behind(const Neighbourhood& near, const FusedMatches& matches, graph::NodeId node,
                           graph::OpKind op);

}
