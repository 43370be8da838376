#include <algorithm>

#include "core/cost/fusion.h"

// What FusionRules says of additions before norms and Gelus.

namespace regraft::cost {

using graph::kNoNode;
using graph::NodeId;
using graph::OpKind;
using graph::Value;

// An addition before a norm, and that of a bias before it.
Fusion FusionRules::into_layer_norm(NodeId node) const {
  if (const Fusion skip = skip_layer_norm(node); skip.owner != kNoNode || kind(node) != OpKind::add)
    return skip;
  const NodeId sum = near_.only_user(node);
  const Value bias = near_.input(node, 1);
  const bool biased =
      is_constant(bias) && graph_.type(bias).rank() == 1 && !is_constant(near_.input(node, 0));
  return biased && near_.is(sum, OpKind::add) ? Fusion{skip_layer_norm(sum).owner, {}} : Fusion{};
}

// SkipLayerNormalization: slower than its parts.
Fusion FusionRules::skip_layer_norm(NodeId node) const {
  const graph::Node& n = graph_.node(node);
  if (n.kind != OpKind::add) return {};
  const NodeId owner = behind(node, OpKind::layer_norm);
  if (owner == kNoNode) return {};
  const Value a = near_.input(node, 0), b = near_.input(node, 1);
  const DeviceProfile& device = kernels_.device();
  const graph::TensorType& type = graph_.type(a);
  if (graph_.type_id(a) != graph_.type_id(b) || type.rank() != 3) return {};
  if (!device.infers_symbols && !type.is_static()) return {};
  const graph::TypeId over = n.outputs[0];
  const auto pass = kernels_.pass({OpKind::layer_norm, KernelForm::skip}, over, device.skip_layer_norm_ns);
  KernelTime extra = kernels_.time_of(pass);
  extra -= kernels_.time_of(kernels_.pass({OpKind::layer_norm}, over, device.layer_norm_ns));
  return {owner, extra, pass};
}

// BiasGelu: a Gelu and the addition of a bias before it, in either order.
Fusion FusionRules::into_gelu(NodeId node) const {
  const graph::Node& n = graph_.node(node);
  if (n.kind != OpKind::add) return {};
  const graph::TensorType &a = graph_.type(near_.input(node, 0)), &b = graph_.type(near_.input(node, 1));
  const bool biased = (a.rank() == 1 || b.rank() == 1) && a.rank() > 0 && b.rank() > 0 &&
                      a.dims[a.rank() - 1] == b.dims[b.rank() - 1] && !graph::is_symbol(a.dims[a.rank() - 1]);
  return biased ? Fusion{behind(node, OpKind::gelu), {}} : Fusion{};
}

// The norm or Gelu, as one operation or in parts, that alone reads what a node computes.
NodeId FusionRules::behind(NodeId node, OpKind op) const {
  if (const NodeId user = near_.only_user(node); user != kNoNode)
    return kind(user) == op && near_.input(user, 0).node == node ? user : kNoNode;
  const auto users = near_.users(node);
  if (users.empty()) return kNoNode;
  const FusedMatch* match = matches_.around(users[0]);
  if (!match || near_.source(match->over) != Value{node, 0}) return kNoNode;
  const FusedPatterns::Kernel& kernel = matches_.kernel(*match);
  const bool reads_it_alone =
      kernel.kind.op == op && (op != OpKind::layer_norm || kernel.takes_addition) &&
      std::all_of(users.begin(), users.end(), [&](NodeId user) { return match->has(user); });
  return reads_it_alone ? match->root() : kNoNode;
}

}
