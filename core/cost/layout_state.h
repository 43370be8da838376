#pragma once

#include <vector>

#include "core/cost/kernel_cost.h"
#include "core/graph/graph.h"

namespace regraft::cost {

/// What is known of each node from its inputs, and of a Pad from its only use, by node id: kept by
/// AnalyticCost.
struct LayoutState {
  bool constant = false;  // the runtime computes it once, when the session starts
  bool blocked = false;   // its output is in the blocked layout
  bool operator==(const LayoutState&) const = default;
};

/// What a node computes as a kernel of its own.
OpWithConstants op_with_constants(const graph::Graph& graph, const std::vector<LayoutState>& layouts,
                                  graph::NodeId node);

/// The convolution that pads by what a Pad does, or kNoNode.
graph::NodeId padded_conv(const graph::Graph& graph, graph::NodeId pad);

/// Whether a Transpose to channels last (0, 2, 3, 1) is itself the move out of the blocked layout.
bool leaves_blocked(const graph::Graph& graph, const std::vector<LayoutState>& layouts, graph::NodeId node);
/// Whether one from there (0, 3, 1, 2) is part of the move into it.
bool enters_blocked(const graph::Graph& graph, KernelCosts& kernels, const std::vector<LayoutState>& layouts,
                    graph::NodeId node);

/// Whether a user of a value reads it in the blocked layout, or moves it out of there itself.
bool takes_blocked(const graph::Graph& graph, KernelCosts& kernels, const std::vector<LayoutState>& layouts,
                   const graph::Use& use);

}
