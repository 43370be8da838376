#include "core/cost/fusion.h"
#include "core/graph/constants.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace regraft::cost {
namespace {

using graph::Attr;
using graph::kNoNode;
using graph::NodeId;
using graph::OpKind;
using graph::TensorType;
using graph::Value;

// Activations that a convolution's kernel, and a Gemm's kernel, does on the way out.
constexpr std::array kConvActivations{OpKind::relu,    OpKind::leaky_relu, OpKind::clip,
                                      OpKind::sigmoid, OpKind::tanh,       OpKind::hard_sigmoid};
constexpr std::array kGemmActivations{OpKind::relu, OpKind::leaky_relu,   OpKind::elu,     OpKind::sigmoid,
                                      OpKind::tanh, OpKind::hard_sigmoid, OpKind::softplus};

template <std::size_t N>
bool among(const std::array<OpKind, N>& kinds, OpKind kind) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

bool near(double a, double b) {
  return std::abs(a - b) <= 1e-4 * std::abs(b);
}

// One value a channel of an NCHW tensor: [C, 1, 1] or [1, C, 1, 1].
bool is_channelwise(const TensorType& type) {
  const std::size_t rank = type.rank();
  if (rank != 3 && rank != 4) return false;
  return type.dims[rank - 1] == 1 && type.dims[rank - 2] == 1 && (rank == 3 || type.dims[0] == 1);
}

// Swaps the last two dims; or moves the first dim behind the batch dims, with or without that swap.
bool fits_matmul(const graph::Ints& perm) {
  const auto n = static_cast<std::int64_t>(perm.size());
  if (n < 2) return false;
  const auto at = [&](std::int64_t i) { return perm[static_cast<std::size_t>(i)]; };
  bool swap = at(n - 1) == n - 2 && at(n - 2) == n - 1, rotate = n > 2;
  for (std::int64_t i = 0; i < n - 2; ++i) {
    swap = swap && at(i) == i;
    rotate = rotate && at(i) == i + 1;
  }
  const bool kept = at(n - 2) == 0 && at(n - 1) == n - 1, swapped = at(n - 2) == n - 1 && at(n - 1) == 0;
  return swap || (rotate && (kept || swapped));
}

}  // namespace

KernelKey kernel_key(const graph::Graph& graph, const std::vector<LayoutState>& layouts, NodeId id) {
  const graph::Node& node = graph.node(id);
  KernelKey key{node.signature, 0};
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    if (node.inputs[i].present() && layouts[node.inputs[i].node].constant)
      key.constants |= 1u << std::min<std::size_t>(i, 31);
  return key;
}

// Inline: position-independent code keeps a call to what another library could replace.
Value FusionRules::source(Value value) const {
  while (value.present() && kind(value.node) == OpKind::identity) value = graph_.node(value.node).inputs[0];
  return value;
}

Value FusionRules::input(NodeId node, std::size_t slot) const {
  const auto& inputs = graph_.node(node).inputs;
  return slot < inputs.size() ? source(inputs[slot]) : Value{};
}

NodeId FusionRules::only_user(NodeId node) const {
  while (true) {
    const auto uses = graph_.uses(node);
    if (uses.size() != 1 || uses[0].user == graph::kGraphOutput || graph_.node(node).outputs.size() != 1)
      return kNoNode;
    node = uses[0].user;
    if (kind(node) != OpKind::identity) return node;
  }
}

bool FusionRules::is_constant(Value value) const {
  return value.present() && layouts_[value.node].constant;
}

double FusionRules::elements(NodeId node) const {
  return static_cast<double>(kernels_.elements(graph_.node(node).outputs[0]));
}

KernelTime FusionRules::fused_pass() const {
  return KernelTime::of_us(kernels_.device().fused_pass_us);
}

FusionRules::Scaled FusionRules::scaled(NodeId node) const {
  if (graph_.node(node).inputs.size() != 2) return {};
  for (const std::size_t slot : {1, 0}) {
    const Value constant = input(node, slot);
    if (!constant.present() || kind(constant.node) != OpKind::weight) continue;
    const auto factor = graph::scalar_value(graph_.tables(), graph_.weight_of(constant), 1);
    if (factor) return {*factor, input(node, 1 - slot), true};
  }
  return {};
}

Fusion FusionRules::find(NodeId node) const {
  if (layouts_[node].constant) return {};
  switch (kind(node)) {
    case OpKind::batch_norm:
      return on_conv(node);
    case OpKind::add:
    case OpKind::sum:
    case OpKind::mul:
    case OpKind::div:
      for (const auto rule :
           {&FusionRules::into_gelu, &FusionRules::on_conv, &FusionRules::conv_sum, &FusionRules::on_matmul,
            &FusionRules::into_matmul, &FusionRules::into_layer_norm})
        if (const Fusion found = (this->*rule)(node); found.owner != kNoNode) return found;
      return {};
    case OpKind::transpose:
      return into_matmul(node);
    case OpKind::pad:
      return pad_into_conv(node);
    default:
      return activation(node);
  }
}

// BatchNormalization, and Add or Mul of one constant a channel: folded into the convolution's weights.
Fusion FusionRules::on_conv(NodeId node) const {
  const graph::Node& n = graph_.node(node);
  const bool norm = n.kind == OpKind::batch_norm;
  if (!norm && n.kind != OpKind::add && n.kind != OpKind::mul) return {};
  for (std::size_t slot = 0; slot < (norm ? 1 : n.inputs.size()); ++slot) {
    const Value value = input(node, slot);
    if (!value.present() || kind(value.node) != OpKind::conv || only_user(value.node) != node) continue;
    if (!is_constant(input(value.node, 1))) continue;
    const Value other = input(node, 1 - std::min<std::size_t>(slot, 1));
    if (norm || (is_constant(other) && is_channelwise(graph_.type(other)))) return {value.node, {}};
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
    const NodeId producer = input(node, slot).node;
    if (only_user(producer) != node) continue;
    const NodeId conv = kind(producer) == OpKind::conv ? producer : on_conv(producer).owner;
    if (conv == kNoNode) continue;
    return {conv, KernelTime::of_us(elements(node) * kernels_.device().conv_sum_ns * 1e-3)};
  }
  return {};
}

// Add of a bias to a matmul with constant weights; of any [M, N] to a 2-D matmul.
Fusion FusionRules::on_matmul(NodeId node) const {
  const graph::Node& n = graph_.node(node);
  if (n.kind == OpKind::mul || n.kind == OpKind::div) {  // a scalar on the product
    const Scaled s = scaled(node);
    const bool product = s.found && s.value.present() && kind(s.value.node) == OpKind::matmul;
    return product && only_user(s.value.node) == node ? Fusion{s.value.node, {}} : Fusion{};
  }
  if (n.kind != OpKind::add) return {};
  for (std::size_t slot = 0; slot < 2; ++slot) {
    const Value product = input(node, slot), other = input(node, 1 - slot);
    if (!product.present() || kind(product.node) != OpKind::matmul || only_user(product.node) != node)
      continue;
    const TensorType &out = graph_.type(product), &added = graph_.type(other);
    const bool flat = out.rank() == 2 && added.rank() <= 2 && graph_.type_id(product) == n.outputs[0];
    const Value right = input(product.node, 1);
    const bool biased = is_constant(other) && added.rank() == 1 && out.rank() >= 2 &&
                        added.dims[0] == out.dims[out.rank() - 1] && is_constant(right) &&
                        graph_.type(right).rank() == 2;
    if (flat || biased) return {product.node, fused_pass()};
  }
  return {};
}

Fusion FusionRules::activation(NodeId node) const {
  const OpKind act = kind(node);
  const bool by_conv = among(kConvActivations, act), by_gemm = among(kGemmActivations, act);
  if (!by_conv && !by_gemm) return {};
  const NodeId producer = input(node, 0).node;
  if (producer == kNoNode || only_user(producer) != node) return {};
  const OpKind before = kind(producer);
  if (before == OpKind::conv) return by_conv ? Fusion{producer, {}} : Fusion{};
  if (before == OpKind::gemm) return by_gemm ? Fusion{producer, fused_pass()} : Fusion{};
  if (before != OpKind::batch_norm && before != OpKind::add && before != OpKind::sum && before != OpKind::mul)
    return {};
  const NodeId owner = find(producer).owner;
  if (owner == kNoNode) return {};
  if (kind(owner) == OpKind::conv) return by_conv ? Fusion{owner, {}} : Fusion{};
  const bool gemm = kind(owner) == OpKind::matmul && before == OpKind::add;
  return gemm && by_gemm ? Fusion{owner, fused_pass()} : Fusion{};
}

// A transpose or a scalar factor on the way into a matmul.
Fusion FusionRules::into_matmul(NodeId node) const {
  const OpKind k = kind(node);
  const NodeId user = only_user(node);
  if (user == kNoNode || kind(user) != OpKind::matmul || k == OpKind::add || k == OpKind::sum) return {};
  if (input(user, 0).node == input(user, 1).node) return {};
  if (k != OpKind::transpose)
    return scaled(node).found && !is_constant(scaled(node).value) &&
                   (k == OpKind::mul || input(node, 0) == scaled(node).value)
               ? Fusion{user, {}}
               : Fusion{};
  const graph::AttrBlock& attrs = graph_.attrs(node);
  return attrs.has(Attr::perm) && fits_matmul(attrs.ints(Attr::perm)) ? Fusion{user, {}} : Fusion{};
}

// SkipLayerNormalization: slower than its parts.
Fusion FusionRules::into_layer_norm(NodeId node) const {
  const graph::Node& n = graph_.node(node);
  if (n.kind != OpKind::add) return {};
  const NodeId user = only_user(node);
  if (user == kNoNode || kind(user) != OpKind::layer_norm || input(user, 0).node != node) return {};
  const Value a = input(node, 0), b = input(node, 1);
  if (is_constant(a) || is_constant(b)) return {};
  if (graph_.type_id(a) != graph_.type_id(b) || graph_.type(a).rank() != 3) return {};
  const DeviceProfile& device = kernels_.device();
  const double ns = device.skip_layer_norm_ns - device.layer_norm_ns;
  return {user, KernelTime::of_us(elements(node) * ns * 1e-3)};
}

bool FusionRules::GeluSite::has(NodeId node) const {
  return node == scale || node == erf || node == plus_one || node == inner || node == outer;
}

// mul = of * 0.5
bool FusionRules::is_half_of(NodeId mul, Value of) const {
  if (mul == kNoNode || kind(mul) != OpKind::mul) return false;
  const Scaled s = scaled(mul);
  return s.found && near(s.factor, 0.5) && s.value == of;
}

// (x * (erf(x / sqrt 2) + 1)) * 0.5 or (x * 0.5) * (erf(x / sqrt 2) + 1)
FusionRules::GeluSite FusionRules::gelu_at(NodeId erf) const {
  const GeluSite none{kNoNode, kNoNode, kNoNode, kNoNode, kNoNode};
  const NodeId scale = input(erf, 0).node;
  if (scale == kNoNode || only_user(scale) != erf) return none;
  const Scaled arg = scaled(scale);
  const bool divided =
      kind(scale) == OpKind::div && input(scale, 0) == arg.value && near(arg.factor, std::sqrt(2.0));
  const bool multiplied = kind(scale) == OpKind::mul && near(arg.factor, std::sqrt(0.5));
  if (!arg.found || (!divided && !multiplied)) return none;
  const Value x = arg.value;
  const NodeId plus_one = only_user(erf);
  if (plus_one == kNoNode || kind(plus_one) != OpKind::add) return none;
  const Scaled one = scaled(plus_one);
  if (!one.found || !near(one.factor, 1)) return none;
  const NodeId product = only_user(plus_one);
  if (product == kNoNode || kind(product) != OpKind::mul) return none;
  const std::size_t erf_slot = input(product, 0).node == plus_one ? 0 : 1;
  const Value other = input(product, 1 - erf_slot);
  if (!other.present()) return none;
  if (other == x) {
    const NodeId outer = only_user(product);
    if (is_half_of(outer, Value{product, 0})) return {scale, erf, plus_one, product, outer};
    return none;
  }
  if (only_user(other.node) == product && is_half_of(other.node, x))
    return {scale, erf, plus_one, other.node, product};
  return none;
}

// Erf nodes at most `steps` sums and products above a node.
void FusionRules::erfs_above(NodeId from, int steps, InlineVector<NodeId, 8>& found) const {
  for (std::size_t slot = 0; slot < graph_.node(from).inputs.size() && slot < 2; ++slot) {
    const NodeId above = input(from, slot).node;
    if (above == kNoNode) continue;
    const OpKind k = kind(above);
    if (k == OpKind::erf) found.push_back(above);
    if ((k == OpKind::add || k == OpKind::mul) && steps > 1) erfs_above(above, steps - 1, found);
  }
}

Fusion FusionRules::into_gelu(NodeId node) const {
  InlineVector<NodeId, 8> erfs;
  erfs_above(node, 3, erfs);
  if (const NodeId user = only_user(node); user != kNoNode) {
    if (kind(user) == OpKind::erf) erfs.push_back(user);
    if (kind(user) == OpKind::mul) erfs_above(user, 2, erfs);
  }
  for (const NodeId erf : erfs) {
    const GeluSite site = gelu_at(erf);
    if (site.erf == kNoNode || !site.has(node)) continue;
    if (node != site.plus_one) return {erf, {}};
    // The time of an Erf kernel stands at the Erf: here what the Gelu kernel takes beyond it.
    const DeviceProfile& device = kernels_.device();
    KernelTime extra = KernelTime::of_us(device.launch_us + elements(node) * device.gelu_ns * 1e-3);
    extra -= kernels_.of(kernel_key(graph_, layouts_, erf)).time;
    return {erf, extra};
  }
  return {};
}

Fusion FusionRules::pad_into_conv(NodeId node) const {
  const graph::AttrBlock& attrs = graph_.attrs(node);
  const NodeId user = only_user(node);
  if (user == kNoNode || kind(user) != OpKind::conv || input(user, 0).node != node) return {};
  if (!attrs.has(Attr::pads) || attrs.text(Attr::mode) != "constant") return {};
  const bool zero = !attrs.has(Attr::value) || attrs.real(Attr::value) == 0;
  return zero ? Fusion{user, {}} : Fusion{};
}

}  // namespace regraft::cost
