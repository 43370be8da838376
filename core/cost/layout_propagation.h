#pragma once

#include <vector>

#include "core/cost/fused_matches.h"
#include "core/cost/layout_state.h"

namespace regraft::cost {

/// The layout state of a node from those of its inputs, or of what its match goes over (of a Pad from its
/// use, too): what the runtime folds when the session starts, and what it keeps in the blocked layout.
LayoutState layout_of(const graph::Graph& graph, KernelCosts& kernels,
                      const std::vector<LayoutState>& layouts, const FusedMatches& matches,
                      graph::NodeId node);

/// Reorders between the layouts that stand at a node's output: none or one, shared by all users.
bool needs_reorder(const graph::Graph& graph, KernelCosts& kernels, const std::vector<LayoutState>& layouts,
                   graph::NodeId node);

}
