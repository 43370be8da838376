#pragma once

#include <vector>

#include "core/cost/fused_matches.h"
#include "core/cost/layout_state.h"
#include "core/cost/neighbourhood.h"
#include "core/graph/graph.h"

namespace regraft::cost {

/// Which kernel a node becomes part of.
struct Fusion {
  graph::NodeId owner =
      graph::kNoNode;  // the node whose kernel does this node's work; kNoNode: a kernel of its own
  KernelTime extra;    // what its work adds to that kernel, or takes beyond what such a kernel does
  KernelCosts::Pass pass =
      {};  // the kernel of all nodes together, at one of them, where it is no single operation's
  bool operator==(const Fusion&) const = default;
};

/// The fusions of ONNX Runtime on CPU at its highest level, decided node by node from a node's neighbourhood:
/// at most kFusionRadius edges, not counting Identity nodes, that do not pass through inputs and weights.
///
/// What is one kernel of its own, Gelus and norms in parts, is data, in which Identity nodes count:
/// FusedMatches. The rest is what a kernel takes in. Chains behind a convolution: [BatchNormalization] [Add
/// or Sum of a blocked tensor] [activation]. Behind a matmul: [Add of a bias, or of a matrix when all is 2-D]
/// [activation]; before it, where nothing is added: scaling by a scalar and transposes of the last two dims.
/// Slices and Gathers that take a value apart (split_parts.h). x * Sigmoid(x) (QuickGelu); x * HardSigmoid(x)
/// behind a blocked convolution (HardSwish); Add before LayerNormalization, of static shapes
/// (SkipLayerNormalization), and of a bias before Gelu (BiasGelu); zero Pad before a convolution; a Transpose
/// to or from channels last at the border of the blocked layout; what reads bytes and makes bytes
/// (kernel_of_bytes.h).
///
/// With Fusing::elementwise: elementwise_owner.h, and bytes as above.
class FusionRules {
 public:
  FusionRules(const graph::Graph& graph, KernelCosts& kernels, const std::vector<LayoutState>& layouts,
              const FusedMatches& matches)
      : graph_(graph), near_(graph), kernels_(kernels), layouts_(layouts), matches_(matches) {}

  Fusion find(graph::NodeId node) const;

 private:
  Fusion in_match(const FusedMatch& match, graph::NodeId node) const;
  Fusion in_product(const FusedMatch& match, graph::NodeId node) const;
  Fusion by_kind(graph::NodeId node) const;
  Fusion on_conv(graph::NodeId node) const;
  Fusion folded_into_conv(graph::NodeId node, int links) const;
  Fusion on_matmul(graph::NodeId node) const;
  Fusion conv_sum(graph::NodeId node) const;
  Fusion activation(graph::NodeId node) const;
  Fusion into_matmul(graph::NodeId node) const;
  Fusion into_layer_norm(graph::NodeId node) const;
  Fusion skip_layer_norm(graph::NodeId node) const;
  Fusion into_split(graph::NodeId node) const;
  Fusion into_silu(graph::NodeId node) const;
  Fusion into_hard_swish(graph::NodeId node) const;
  Fusion into_kernel_of_bytes(graph::NodeId node) const;
  Fusion in_place_of(graph::NodeId owner, const KernelCosts::Pass& pass) const;
  /// A kernel that is no other node's.
  Fusion alone(graph::NodeId node, const KernelCosts::Pass& pass) const {
    return {graph::kNoNode, in_place_of(node, pass).extra, pass};
  }
  /// An elementwise node's own kernel, but for the arithmetic of an element.
  KernelCosts::Pass as(graph::NodeId node, KernelKind kind, double ns_per_element) const;
  Fusion power(graph::NodeId node) const;  // squares and cubes are multiplied out
  Fusion into_gelu(graph::NodeId node) const;
  Fusion of_transpose(graph::NodeId node) const;

  graph::OpKind kind(graph::NodeId node) const { return graph_.node(node).kind; }
  bool is_constant(graph::Value value) const { return value.present() && layouts_[value.node].constant; }
  double elements(graph::NodeId node) const {
    return static_cast<double>(kernels_.elements(graph_.node(node).outputs[0]));
  }
  double elementwise_ns(graph::OpKind kind) const {
    return kernels_.device().elementwise_ns[static_cast<std::size_t>(kind)];
  }
  KernelTime fused_pass() const { return KernelTime::of_us(kernels_.device().fused_pass_us); }

  const graph::Graph& graph_;
  Neighbourhood near_;
  KernelCosts& kernels_;
  const std::vector<LayoutState>& layouts_;
  const FusedMatches& matches_;
};

}
