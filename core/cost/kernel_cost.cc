#include "core/cost/kernel_cost.h"

#include <algorithm>
#include <utility>

#include "core/cost/kernel_models.h"
#include "core/graph/opaque_work.h"

namespace regraft::cost {
namespace {

using graph::Attr;
using graph::OpKind;

bool divides(std::int64_t value, double block) {
  return value > 0 && value % static_cast<std::int64_t>(block) == 0;
}

}  // namespace

KernelTime KernelCost::analytic() const {
  KernelTime without = time;
  return without *= 1 / factor;
}

// As ONNX Runtime's NchwcTransformer decides (onnxruntime/core/optimizer/nchwc_transformer.cc).
KernelCosts::Layout KernelCosts::layout_of(const graph::Signature& s) const {
  const auto channels = [&](std::size_t input, std::size_t axis) -> std::int64_t {
    const graph::TensorType& type = tables_.type(s.inputs[input]);
    return axis < type.rank() ? bindings_.value(type.dims[axis]) : 0;
  };
  const auto is_image = [&](std::size_t i) {
    const graph::TensorType& type = tables_.type(s.inputs[i]);
    return type.rank() == 4 && type.dtype == graph::DType::float32;
  };
  if (s.inputs.empty() || !is_image(0)) return Layout::plain;
  switch (s.kind) {
    case OpKind::max_pool:
    case OpKind::average_pool:
    case OpKind::global_average_pool:
    case OpKind::global_max_pool:
      return divides(channels(0, 1), device_.channel_block) ? Layout::blocked : Layout::plain;
    case OpKind::conv:
      break;
    default:
      return Layout::plain;
  }
  if (!is_image(1) || s.constant[1] == 0) return Layout::plain;
  const std::int64_t group = tables_.attrs(s.attrs).integer(Attr::group);
  const std::int64_t out = channels(1, 0), in = channels(1, 1);
  if (group > 1) {
    const bool depthwise = in == 1 && out == group;
    const bool whole = divides(in, device_.channel_block) && divides(out / group, device_.channel_block);
    return divides(out, device_.channel_alignment) && (depthwise || whole) ? Layout::blocked : Layout::plain;
  }
  if (static_cast<double>(in) < device_.channel_block) return Layout::first;
  return divides(in, device_.channel_alignment) ? Layout::blocked : Layout::plain;
}

void KernelCosts::forget_where_void() {
  const std::uint64_t now = tables_.generation();
  if (std::exchange(generation_, now) == now) return;
  kernels_.clear();
  pass_factors_.clear();
  sizes_.clear();
}

const KernelCosts::Kernel& KernelCosts::kernel(OpWithConstants op) {
  const std::uint64_t packed = (static_cast<std::uint64_t>(index(op.signature)) << 32) | op.constants;
  const auto [at, fresh] = kernels_.try_emplace(packed);
  Kernel& kernel = at->second;
  if (!fresh) return kernel;
  const graph::Signature s = signature_of(op);
  kernel.layout = layout_of(s);
  const KernelShape shape{device_, tables_, bindings_, s};
  KernelCost& cost = kernel.cost;
  cost.counts = graph::op_counts(tables_, s, bindings_);
  cost.view = is_view_kind(s.kind);
  if (is_linear(tables_, s))
    cost.time = to_kernel_time(device_, linear_time(shape, kernel.layout != Layout::plain));
  else if (cost.view)
    cost.time = KernelTime::of_us(device_.view_us);
  else
    cost.time = KernelTime::of_us(device_.launch_us + element_time_us(shape, cost.counts));
  if (device_.measured && !cost.view) {
    cost.factor = device_.measured->factor(features_of(s, kernel.layout, cost.counts));
    cost.time *= cost.factor;
  }
  return kernel;
}

graph::Signature KernelCosts::signature_of(OpWithConstants op) const {
  graph::Signature s = tables_.signature(op.signature);
  for (std::size_t i = 0; i < s.constant.size(); ++i)
    s.constant[i] = (op.constants >> std::min<std::size_t>(i, 31)) & 1;
  return s;
}

KernelFeatures KernelCosts::features(OpWithConstants op) const {
  const graph::Signature s = signature_of(op);
  return features_of(s, layout_of(s), graph::op_counts(tables_, s, bindings_));
}

std::int64_t KernelCosts::last_dim(graph::TypeId type) const {
  const graph::TensorType& held = tables_.type(type);
  return held.rank() > 0 ? bindings_.value(held.dims[held.rank() - 1]) : 1;
}

KernelFeatures KernelCosts::features_of(const graph::Signature& s, Layout layout,
                                        const graph::OpCounts& counts) const {
  KernelFeatures features{
      s.kind,
      KernelForm::plain,
      s.inputs.empty() ? graph::DType::undefined : tables_.type(s.inputs[0]).dtype,
      {0, counts.read_bytes, counts.write_bytes, 0, s.inputs.empty() ? 0 : last_dim(s.inputs[0]),
       s.outputs.empty() ? 0 : last_dim(s.outputs[0])}};
  if (layout != Layout::plain)
    features.form = layout == Layout::first ? KernelForm::first_blocked : KernelForm::blocked;
  if (s.kind == OpKind::opaque) {
    const graph::OpaqueOp* op = graph::opaque_op(tables_, s);
    features.op = op ? op->name : graph::opaque_name(tables_, s);
  }
  if (!is_linear(tables_, s)) {
    if (layout == Layout::plain) features.form = element_form({device_, tables_, bindings_, s});
    return features;
  }
  features.sizes[KernelFeatures::flops] = counts.flops;
  features.sizes[KernelFeatures::weight_bytes] = counts.weight_bytes;
  if (s.kind == OpKind::opaque) return features;
  const bool grouped = s.kind == OpKind::conv && tables_.attrs(s.attrs).integer(Attr::group) > 1;
  if (grouped)
    features.form = layout == Layout::plain ? KernelForm::grouped : KernelForm::grouped_blocked;
  else if (s.kind != OpKind::conv && s.constant[1] != 0)
    features.form = KernelForm::constant_operand;
  return features;
}

KernelCosts::Pass KernelCosts::pass(KernelKind kind, graph::TypeId over, double ns_per_element) {
  const double us = device_.launch_us + static_cast<double>(elements(over)) * ns_per_element * 1e-3;
  return {kind, over, KernelTime::of_us(us)};
}

KernelFeatures KernelCosts::features(const Pass& pass) {
  const graph::TensorType& type = tables_.type(pass.over);
  const std::int64_t size = bytes(pass.over), last = last_dim(pass.over);
  return {pass.kind.op, pass.kind.form, type.dtype, {0, size, size, 0, last, last}};
}

KernelTime KernelCosts::time_of(const Pass& pass) {
  KernelTime time = pass.analytic;
  if (!device_.measured) return time;
  const std::uint64_t key = std::uint64_t{index(pass.over)} << 32 |
                            static_cast<std::uint64_t>(pass.kind.op) << 8 |
                            static_cast<std::uint64_t>(pass.kind.form);
  const auto [at, fresh] = pass_factors_.try_emplace(key);
  if (fresh) at->second = device_.measured->factor(features(pass));
  return time *= at->second;
}

const KernelCosts::TypeSize& KernelCosts::compute_size(graph::TypeId type) {
  const std::size_t at = index(type);
  if (at >= sizes_.size()) sizes_.resize(at + 1);
  const graph::TensorType& held = tables_.type(type);
  const std::int64_t elements = bindings_.element_count(held);
  sizes_[at] = {elements, elements * static_cast<std::int64_t>(dtype_bytes(held.dtype)), true};
  return sizes_[at];
}

const KernelCost& KernelCosts::of(OpWithConstants op) {
  return kernel(op).cost;
}

bool KernelCosts::starts_blocked(OpWithConstants op) {
  return kernel(op).layout != Layout::plain;
}

bool KernelCosts::reads_blocked(OpWithConstants op) {
  return kernel(op).layout == Layout::blocked;
}

}
