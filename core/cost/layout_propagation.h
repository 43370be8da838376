#pragma once

#include <vector>

#include "core/cost/fusion.h"

namespace regraft::cost {

/// The layout state of a node from those of its inputs: what the runtime folds when the session starts, and
/// what it keeps in the blocked layout.
LayoutState layout_of(const graph::Graph& graph, KernelCosts& kernels,
                      const std::vector<LayoutState>& layouts, graph::NodeId node);

/// The layout of an operation of these kinds depends on what is within kLayoutRadius edges, as it may be part
/// of a Gelu; that of any other on its inputs alone.
inline constexpr int kLayoutRadius = 5;
constexpr bool sees_neighbours(graph::OpKind kind) {
  return kind == graph::OpKind::add || kind == graph::OpKind::mul || kind == graph::OpKind::div ||
         kind == graph::OpKind::erf;
}

/// Reorders between the layouts that stand at a node's output: none or one, shared by all users.
bool needs_reorder(const graph::Graph& graph, KernelCosts& kernels, const std::vector<LayoutState>& layouts,
                   graph::NodeId node);

}  // namespace regraft::cost
