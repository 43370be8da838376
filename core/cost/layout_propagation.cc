#include "core/cost/layout_propagation.h"

#include <algorithm>

#include "core/graph/opaque_work.h"

namespace regraft::cost {
namespace {

using graph::Attr;
using graph::Graph;
using graph::Node;
using graph::NodeId;
using graph::OpKind;
using graph::Value;

bool is_constant(const Graph& graph, const std::vector<LayoutState>& layouts, const Node& node) {
  switch (node.kind) {
    case OpKind::weight:
      return true;
    case OpKind::input:
    case OpKind::dequantize_linear:  // kept for kernels of bytes
      return false;
    case OpKind::opaque:  // the runtime folds what it knows to give the same in every run
      if (!graph::opaque_op(graph.tables(), graph.tables().signature(node.signature))) return false;
      break;
    case OpKind::shape:
      if (graph.type(node.inputs[0]).is_static()) return true;
      break;
    default:
      break;
  }
  return std::all_of(node.inputs.begin(), node.inputs.end(),
                     [&](Value v) { return !v.present() || layouts[v.node].constant; });
}

class LayoutRule {
 public:
  LayoutRule(const Graph& graph, KernelCosts& kernels, const std::vector<LayoutState>& layouts,
             const FusedMatches& matches, NodeId id)
      : graph_(graph),
        kernels_(kernels),
        layouts_(layouts),
        matches_(matches),
        id_(id),
        node_(graph.node(id)) {}

  bool blocked() const {
    if (in_gelu()) return true;
    switch (node_.kind) {
      case OpKind::conv:
      case OpKind::max_pool:
      case OpKind::average_pool:
      case OpKind::global_average_pool:
      case OpKind::global_max_pool:
        return kernels_.starts_blocked(op_with_constants(graph_, layouts_, id_));
      case OpKind::batch_norm:
      case OpKind::relu:
      case OpKind::leaky_relu:
      case OpKind::clip:
      case OpKind::sigmoid:
      case OpKind::tanh:
      case OpKind::hard_sigmoid:
      case OpKind::hard_swish:
      case OpKind::gelu:
      case OpKind::identity:
        return at(0);
      case OpKind::pad:
        return at(0) && padded_conv(graph_, id_) != graph::kNoNode;
      case OpKind::resize:
        return at(0) && graph_.type(node_.inputs[0]).rank() == 4;
      case OpKind::add:
        return all_inputs() || folded_into_conv();
      case OpKind::mul:
        return all_inputs() || folded_into_conv() || scaled_by_channel();
      case OpKind::sum:
        return all_inputs();
      case OpKind::concat:
        return graph_.tables().attrs(node_.attrs).integer(Attr::axis) == 1 && whole_blocks();
      default:
        return false;
    }
  }

 private:
  bool at(std::size_t slot) const {
    return node_.inputs[slot].present() && layouts_[node_.inputs[slot].node].blocked;
  }

  bool all_inputs() const {
    for (std::size_t i = 0; i < node_.inputs.size(); ++i)
      if (!at(i) || graph_.type_id(node_.inputs[i]) != graph_.type_id(node_.inputs[0])) return false;
    return true;
  }

  // Part of a Gelu, which is one kernel, of what is blocked.
  bool in_gelu() const {
    const FusedMatch* match = matches_.around(id_);
    return match && matches_.kernel(*match).kind == KernelKind{OpKind::gelu} &&
           layouts_[match->over.node].blocked;
  }

  // Add or Mul of a constant a channel behind a convolution.
  bool folded_into_conv() const {
    for (std::size_t slot = 0; slot < 2; ++slot) {
      const Value conv = node_.inputs[slot], other = node_.inputs[1 - slot];
      if (!at(slot) || graph_.node(conv.node).kind != OpKind::conv) continue;
      const graph::TensorType& type = graph_.type(other);
      const std::size_t rank = type.rank();
      if (layouts_[other.node].constant && rank >= 3 && type.dims[rank - 1] == 1 && type.dims[rank - 2] == 1)
        return true;
    }
    return false;
  }

  // A convolution of one number a channel; behind a convolution any scalar, which goes into its weights.
  bool scaled_by_channel() const {
    for (std::size_t slot = 0; slot < 2; ++slot) {
      const Value factor = node_.inputs[1 - slot];
      if (!at(slot) || !factor.present() || !layouts_[factor.node].constant) continue;
      const graph::TensorType& type = graph_.type(factor);
      const std::size_t rank = type.rank();
      if (rank == 0 && slot == 0) return graph_.node(node_.inputs[slot].node).kind == OpKind::conv;
      if ((rank == 3 || (rank == 4 && type.dims[0] == 1)) && type.dims[rank - 1] == 1 &&
          type.dims[rank - 2] == 1)
        return true;
    }
    return false;
  }

  bool whole_blocks() const {
    const auto block = static_cast<std::int64_t>(kernels_.device().channel_block);
    for (std::size_t i = 0; i < node_.inputs.size(); ++i) {
      const graph::TensorType& type = graph_.type(node_.inputs[i]);
      if (!at(i) || type.rank() < 2 || type.dims[1] <= 0 || type.dims[1] % block != 0) return false;
    }
    return true;
  }

  const Graph& graph_;
  KernelCosts& kernels_;
  const std::vector<LayoutState>& layouts_;
  const FusedMatches& matches_;
  NodeId id_;
  const Node& node_;
};

}  // namespace

LayoutState layout_of(const Graph& graph, KernelCosts& kernels, const std::vector<LayoutState>& layouts,
                      const FusedMatches& matches, NodeId id) {
  const Node& node = graph.node(id);
  if (is_constant(graph, layouts, node)) return {true, false};
  if (node.kind == OpKind::input || node.kind == OpKind::opaque) return {};
  return {false, LayoutRule(graph, kernels, layouts, matches, id).blocked()};
}

bool needs_reorder(const Graph& graph, KernelCosts& kernels, const std::vector<LayoutState>& layouts,
                   NodeId id) {
  if (layouts[id].constant || kernels.device().fusing != Fusing::as_onnxruntime) return false;
  const auto takes = [&](const graph::Use& use) { return takes_blocked(graph, kernels, layouts, use); };
  const auto uses = graph.uses(id);
  if (layouts[id].blocked) return !std::all_of(uses.begin(), uses.end(), takes);
  return std::any_of(uses.begin(), uses.end(), takes);
}

}
