#pragma once

#include <vector>

#include "core/cost/fusion.h"

namespace regraft::cost {

/// The layout state of a node from those of its inputs, or of what its match goes over (of a Pad from its
/// use, too): what the runtime folds when the session starts, and what it keeps in the blocked layout.
LayoutState layout_of(const graph::Graph& graph, KernelCosts& kernels,
                      const std::vector<LayoutState>& layouts, const FusedMatches& matches,
                      graph::NodeId node);

/// The convolution that pads by what a Pad does, or kNoNode.
graph::NodeId padded_conv(const graph::Graph& graph, graph::NodeId pad);

/// Whether a Transpose to channels last (0, 2, 3, 1) is itself the move out of the blocked layout.
bool leaves_blocked(const graph::Graph& graph, const std::vector<LayoutState>& layouts, graph::NodeId node);
/// Whether one from there (0, 3, 1, 2) is part of the move into it.
bool enters_blocked(const graph::Graph& graph, KernelCosts& kernels, const std::vector<LayoutState>& layouts,
                    graph::NodeId node);

/// Reorders between the layouts that stand at a node's output: none or one, shared by all users.
bool needs_reorder(const graph::Graph& graph, KernelCosts& kernels, const std::vector<LayoutState>& layouts,
                   graph::NodeId node);

}
