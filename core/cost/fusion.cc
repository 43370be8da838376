#include "core/cost/fusion.h"

#include <algorithm>
#include <array>

#include "core/cost/elementwise_owner.h"
#include "core/cost/fusion_checks.h"
#include "core/cost/kernel_of_bytes.h"
#include "core/cost/split_parts.h"

namespace regraft::cost {
namespace {

using graph::Attr;
using graph::kNoNode;
using graph::NodeId;
using graph::OpKind;
using graph::TensorType;
using graph::Value;

// Activations that a convolution's kernel, and a Gemm's kernel, does on the way out.
constexpr std::array kConvActivations{OpKind::relu, OpKind::leaky_relu,   OpKind::clip,      OpKind::sigmoid,
                                      OpKind::tanh, OpKind::hard_sigmoid, OpKind::hard_swish};
// Those of them that it does behind a sum or a norm in the blocked layout.
constexpr std::array kBlockedActivations{OpKind::relu, OpKind::sigmoid, OpKind::tanh, OpKind::hard_sigmoid,
                                         OpKind::hard_swish};
constexpr double kSpeedOfBytes = 3;  // of products and convolutions, beside floats that are not blocked
constexpr int kMostFolded = 2;       // norms and factors, one behind the other, ahead of another one
constexpr std::array kGemmActivations{OpKind::relu, OpKind::leaky_relu,   OpKind::elu,     OpKind::sigmoid,
                                      OpKind::tanh, OpKind::hard_sigmoid, OpKind::softplus};

template <std::size_t N>
bool among(const std::array<OpKind, N>& kinds, OpKind kind) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

}  // namespace

Fusion FusionRules::find(NodeId node) const {
  const Fusing fusing = kernels_.device().fusing;
  if (layouts_[node].constant || fusing == Fusing::nothing) return {};
  if (fusing == Fusing::elementwise) {
    const auto constant = [this](Value value) { return is_constant(value); };
    const NodeId owner = elementwise_owner(near_, matches_, constant, node);
    if (owner != kNoNode) return {owner, {}};
  }
  if (const FusedMatch* match = matches_.around(node)) return in_match(*match, node);
  if (fusing == Fusing::elementwise)
    return kind(node) == OpKind::pow ? power(node) : into_kernel_of_bytes(node);
  const Fusion found = by_kind(node);
  const bool folded = found.owner != kNoNode && layouts_[found.owner].constant;  // no kernel is launched
  return folded ? Fusion{} : found;
}

// The kernel stands at the root; it is one of kKnownKernels (fused_patterns.cc).
Fusion FusionRules::in_match(const FusedMatch& match, NodeId node) const {
  if (matches_.kernel(match).kind.op == OpKind::matmul) return in_product(match, node);
  if (node != match.root()) return {match.root(), {}};
  const FusedPatterns::Kernel& kernel = matches_.kernel(match);
  const DeviceProfile& device = kernels_.device();
  if (kernel.kind.op == OpKind::div) return alone(node, as(node, kernel.kind, elementwise_ns(OpKind::div)));
  const double ns_per_element = kernel.kind.op == OpKind::gelu ? device.gelu_ns : device.layer_norm_ns;
  return alone(node, kernels_.pass(kernel.kind, graph_.type_id(match.over), ns_per_element));
}

// The kernel stands at the product of integers, whose time it has, and what quantises for it there.
Fusion FusionRules::in_product(const FusedMatch& match, NodeId node) const {
  const auto is_product = [&](NodeId id) {
    return kind(id) == OpKind::opaque && graph_.attrs(id).text(Attr::op_type) == "MatMulInteger";
  };
  const NodeId product = *std::ranges::find_if(match.nodes, is_product);
  if (node == product) return {};
  if (kind(node) != OpKind::opaque) return {product, {}};
  const KernelCost& apart = kernels_.of(op_with_constants(graph_, layouts_, node));
  const double launch_ps = kernels_.device().launch_us * kPicosecondsPerUs;
  KernelTime quantising = apart.time;
  quantising *=
      std::max(0.0, 1 - launch_ps / std::max(1.0, static_cast<double>(apart.analytic().resident_ps)));
  return {product, quantising};
}

Fusion FusionRules::by_kind(NodeId node) const {
  switch (kind(node)) {
    case OpKind::batch_norm:
      return on_conv(node);
    case OpKind::add:
    case OpKind::sum:
    case OpKind::mul:
    case OpKind::div:
      for (const auto rule : {&FusionRules::into_silu, &FusionRules::into_hard_swish, &FusionRules::on_conv,
                              &FusionRules::conv_sum, &FusionRules::on_matmul, &FusionRules::into_matmul,
                              &FusionRules::into_layer_norm, &FusionRules::into_gelu})
        if (const Fusion found = (this->*rule)(node); found.owner != kNoNode) return found;
      return {};
    case OpKind::slice:
    case OpKind::gather:
      return into_split(node);
    case OpKind::pow:
      return power(node);
    case OpKind::transpose:
      return of_transpose(node);
    case OpKind::pad:
      return {padded_conv(graph_, node), {}};
    case OpKind::sigmoid:
    case OpKind::hard_sigmoid:
    case OpKind::relu:
    case OpKind::clip:
    case OpKind::quantize_linear:
    case OpKind::dequantize_linear:
      for (const auto rule :
           {&FusionRules::into_silu, &FusionRules::into_hard_swish, &FusionRules::into_kernel_of_bytes})
        if (const Fusion found = (this->*rule)(node); found.owner != kNoNode) return found;
      return activation(node);
    default:
      return activation(node);
  }
}

// BatchNormalization, Add or Mul of one constant a channel, and Mul by a scalar: folded into the weights.
Fusion FusionRules::on_conv(NodeId node) const {
  return folded_into_conv(node, kMostFolded);
}

Fusion FusionRules::folded_into_conv(NodeId node, int links) const {
  const graph::Node& n = graph_.node(node);
  const bool norm = n.kind == OpKind::batch_norm;
  if (!norm && n.kind != OpKind::add && n.kind != OpKind::mul) return {};
  for (std::size_t slot = 0; slot < (norm ? 1 : n.inputs.size()); ++slot) {
    const Value value = near_.input(node, slot);
    if (!value.present() || near_.only_user(value.node) != node) continue;
    const bool scaled =
        links > 0 && (kind(value.node) == OpKind::mul || kind(value.node) == OpKind::batch_norm);
    const NodeId conv = kind(value.node) == OpKind::conv ? value.node
                        : scaled                         ? folded_into_conv(value.node, links - 1).owner
                                                         : kNoNode;
    if (conv == kNoNode || !is_constant(near_.input(conv, 1))) continue;
    const Value other = near_.input(node, 1 - std::min<std::size_t>(slot, 1));
    if (norm || (is_constant(other) && is_channelwise(graph_.type(other)))) return {conv, {}};
    const bool scalar =
        n.kind == OpKind::mul && slot == 0 && is_constant(other) && graph_.type(other).rank() == 0;
    if (scalar) return {conv, {}};
  }
  return {};
}

// Add or Sum of a convolution's output and another tensor of the same layout.
Fusion FusionRules::conv_sum(NodeId node) const {
  const graph::Node& n = graph_.node(node);
  if ((n.kind != OpKind::add && n.kind != OpKind::sum) || n.inputs.size() != 2 || !layouts_[node].blocked)
    return {};
  if (graph_.type_id(n.inputs[0]) != graph_.type_id(n.inputs[1])) return {};
  for (std::size_t slot = 0; slot < 2; ++slot) {
    const NodeId producer = near_.input(node, slot).node;
    if (near_.only_user(producer) != node) continue;
    const NodeId conv = kind(producer) == OpKind::conv ? producer : on_conv(producer).owner;
    if (conv == kNoNode) continue;
    return {conv, KernelTime::of_us(elements(node) * kernels_.device().conv_sum_ns * 1e-3)};
  }
  return {};
}

// A scalar on a product. What becomes a Gemm: the addition of a bias [N] to a product by a matrix; of [1, N],
// [M, 1] or [M, N] to a product of two matrices. Products of three and more dims must be static. Of two
// products that are added the later one takes the other in.
Fusion FusionRules::on_matmul(NodeId node) const {
  const graph::Node& n = graph_.node(node);
  if (n.kind == OpKind::mul || n.kind == OpKind::div) {
    const Neighbourhood::Scaled s = near_.scaled(node);
    const bool product = s.found && s.value.present() && kind(s.value.node) == OpKind::matmul;
    return product && near_.only_user(s.value.node) == node ? Fusion{s.value.node, {}} : Fusion{};
  }
  if (n.kind != OpKind::add) return {};
  NodeId owner = kNoNode;
  for (std::size_t slot = 0; slot < 2; ++slot) {
    const Value product = near_.input(node, slot);
    if (!near_.is(product.node, OpKind::matmul) || near_.only_user(product.node) != node) continue;
    if (takes_bias(graph_, near_, product.node, near_.input(node, 1 - slot)) &&
        (owner == kNoNode || product.node > owner))
      owner = product.node;
  }
  return owner == kNoNode ? Fusion{} : Fusion{owner, fused_pass()};
}

Fusion FusionRules::activation(NodeId node) const {
  const OpKind act = kind(node);
  const bool by_conv = among(kConvActivations, act), by_gemm = among(kGemmActivations, act);
  if (!by_conv && !by_gemm) return {};
  const NodeId producer = near_.input(node, 0).node;
  if (producer == kNoNode || near_.only_user(producer) != node) return {};
  const OpKind before = kind(producer);
  if (act == OpKind::hard_swish && !layouts_[producer].blocked) return {};
  if (before == OpKind::conv) return by_conv ? Fusion{producer, {}} : Fusion{};
  if (before == OpKind::gemm) return by_gemm ? Fusion{producer, fused_pass()} : Fusion{};
  if (before != OpKind::batch_norm && before != OpKind::add && before != OpKind::sum && before != OpKind::mul)
    return {};
  const NodeId owner = find(producer).owner;
  if (owner == kNoNode) {  // a norm that is no convolution's is one of each channel in the blocked layout
    const bool blocked = before == OpKind::batch_norm && layouts_[producer].blocked;
    return blocked && among(kBlockedActivations, act) ? Fusion{producer, {}} : Fusion{};
  }
  if (kind(owner) == OpKind::conv) {
    const bool takes = by_conv && (on_conv(producer).owner == owner || among(kBlockedActivations, act));
    return takes ? Fusion{owner, {}} : Fusion{};
  }
  const bool gemm = kind(owner) == OpKind::matmul && before == OpKind::add;
  return gemm && by_gemm ? Fusion{owner, fused_pass()} : Fusion{};
}

// A move between layouts to channels last, or from there, is one kernel.
Fusion FusionRules::of_transpose(NodeId node) const {
  if (leaves_blocked(graph_, layouts_, node)) {
    const graph::TypeId over = graph_.node(node).outputs[0];
    return alone(node,
                 kernels_.pass({OpKind::conv, KernelForm::reorder}, over, kernels_.device().reorder_ns));
  }
  if (enters_blocked(graph_, kernels_, layouts_, node)) return {near_.only_user(node), {}};
  return into_matmul(node);
}

// A transpose or a scalar factor on the way into a matmul.
Fusion FusionRules::into_matmul(NodeId node) const {
  const OpKind k = kind(node);
  const NodeId user = near_.only_user(node);
  if (user == kNoNode || kind(user) != OpKind::matmul || k == OpKind::add || k == OpKind::sum) return {};
  if (near_.input(user, 0).node == near_.input(user, 1).node) return {};
  const NodeId behind = near_.only_user(user);
  const bool gemm = near_.is(behind, OpKind::add) && on_matmul(behind).owner == user;
  if (gemm && (k != OpKind::transpose || graph_.type({user, 0}).rank() != 2)) return {};
  if (k != OpKind::transpose)
    return near_.scaled(node).found && !is_constant(near_.scaled(node).value) &&
                   (k == OpKind::mul || near_.input(node, 0) == near_.scaled(node).value)
               ? Fusion{user, {}}
               : Fusion{};
  const graph::AttrBlock& attrs = graph_.attrs(node);
  return attrs.has(Attr::perm) && fits_matmul(attrs.ints(Attr::perm)) ? Fusion{user, {}} : Fusion{};
}

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
  const NodeId owner = whole_behind(near_, matches_, node, OpKind::layer_norm);
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
  return biased ? Fusion{whole_behind(near_, matches_, node, OpKind::gelu), {}} : Fusion{};
}

// The time of a kernel of its own stands at the owner: here what the true one takes beyond it.
Fusion FusionRules::in_place_of(NodeId owner, const KernelCosts::Pass& pass) const {
  KernelTime extra = kernels_.time_of(pass);
  extra -= kernels_.of(op_with_constants(graph_, layouts_, owner)).time;
  return {owner, extra, pass};
}

KernelCosts::Pass FusionRules::as(NodeId node, KernelKind kind, double ns_per_element) const {
  KernelTime time = kernels_.of(op_with_constants(graph_, layouts_, node)).analytic();
  time += KernelTime::of_us(elements(node) * (ns_per_element - elementwise_ns(this->kind(node))) * 1e-3);
  return {kind, graph_.node(node).outputs[0], time};
}

// The first part stands for the Split, whose time is put on the second.
Fusion FusionRules::into_split(NodeId node) const {
  const SplitParts split = split_around(graph_, node);
  if (!split.found() || node == split.parts[0]) return {};
  if (node != split.parts[1]) return {split.parts[0], {}};
  KernelCosts::Pass pass{{OpKind::split, KernelForm::plain}, graph_.node(node).outputs[0], {}};
  for (const NodeId part : split.parts)
    pass.analytic += kernels_.of(op_with_constants(graph_, layouts_, part)).analytic();
  for (std::size_t i = 1; i < split.parts.size(); ++i)
    pass.analytic -= KernelTime::of_us(kernels_.device().launch_us);
  return in_place_of(split.parts[0], pass);
}

// x * Sigmoid(x), and x * Sigmoid(a * x) of a constant a: one kernel (QuickGelu).
Fusion FusionRules::into_silu(NodeId node) const {
  const bool scales = kind(node) == OpKind::mul;
  if (!scales && kind(node) != OpKind::sigmoid) return {};
  const NodeId sigmoid = scales ? near_.only_user(node) : node;
  if (!near_.is(sigmoid, OpKind::sigmoid)) return {};
  const NodeId product = near_.only_user(sigmoid);
  if (!near_.is(product, OpKind::mul)) return {};
  const Value other = near_.input(product, near_.input(product, 0).node == sigmoid ? 1 : 0);
  const Value argument = near_.input(sigmoid, 0);
  const Neighbourhood::Scaled s =
      near_.is(argument.node, OpKind::mul) ? near_.scaled(argument.node) : Neighbourhood::Scaled{};
  const bool scaled = s.found && s.value == other && near_.only_user(argument.node) == sigmoid;
  if (scales ? !scaled : !scaled && argument != other) return {};
  if (scales) return {product, {}};
  const KernelCost& alone = kernels_.of(op_with_constants(graph_, layouts_, product));
  KernelCosts::Pass pass{
      {OpKind::sigmoid, KernelForm::gated}, graph_.node(product).outputs[0], alone.analytic()};
  pass.analytic += KernelTime::of_us(elements(node) * kernels_.device().silu_ns * 1e-3);
  return in_place_of(product, pass);
}

// x * HardSigmoid(x) with HardSwish's numbers: its convolution does it on the way out.
Fusion FusionRules::into_hard_swish(NodeId node) const {
  NodeId gate = node;
  for (std::size_t slot = 0; slot < 2 && kind(node) == OpKind::mul; ++slot)
    if (const NodeId factor = near_.input(node, slot).node; near_.is(factor, OpKind::hard_sigmoid))
      gate = factor;
  if (!near_.is(gate, OpKind::hard_sigmoid)) return {};
  const graph::AttrBlock& attrs = graph_.attrs(gate);
  if (static_cast<float>(attrs.real(Attr::alpha)) != 1.0f / 6 || attrs.real(Attr::beta) != 0.5) return {};
  const Value x = near_.input(gate, 0);
  const NodeId product = near_.only_user(gate);
  if (!near_.is(product, OpKind::mul) || !layouts_[x.node].blocked || near_.users(x.node).size() != 2)
    return {};
  if (near_.input(product, near_.input(product, 0).node == gate ? 1 : 0) != x) return {};
  NodeId conv = kind(x.node) == OpKind::conv ? x.node : on_conv(x.node).owner;
  if (conv == kNoNode) conv = conv_sum(x.node).owner;
  return conv == kNoNode ? Fusion{} : Fusion{conv, {}};
}

// A Softmax of bytes goes element by element; products and convolutions are faster than those of floats.
Fusion FusionRules::into_kernel_of_bytes(NodeId node) const {
  const NodeId owner = kernel_of_bytes(near_, node);
  if (owner == kNoNode || kind(node) != OpKind::quantize_linear) return {owner, {}};
  const graph::TypeId over = graph_.node(owner).outputs[0];
  if (kind(owner) == OpKind::softmax)
    return in_place_of(owner, kernels_.pass({OpKind::softmax, KernelForm::quantised}, over,
                                            kernels_.device().quantised_softmax_ns));
  const OpKind op = kind(owner);
  if (op != OpKind::conv && op != OpKind::matmul && op != OpKind::gemm) return {owner, {}};
  KernelTime time = kernels_.of(op_with_constants(graph_, layouts_, owner)).analytic();
  time *= 1 / kSpeedOfBytes;
  return in_place_of(owner, {{op, KernelForm::quantised}, over, time});
}

Fusion FusionRules::power(NodeId node) const {
  const Neighbourhood::Scaled s = near_.scaled(node);
  if (!s.found || s.value != near_.input(node, 0) || (s.factor != 2 && s.factor != 3)) return {};
  return alone(node, as(node, {OpKind::pow, KernelForm::squared}, kernels_.device().square_ns));
}

}
