#include "core/cost/kernel_cost.h"

#include <cmath>

#include "core/cost/kernel_models.h"

namespace regraft::cost {
namespace {

using graph::Attr;
using graph::OpKind;

constexpr double kPicosecondsPerUs = 1e6;
// A known multiple of the channel count, or not blocked at all.
bool divides(std::int64_t value, double block) {
  return value > 0 && value % static_cast<std::int64_t>(block) == 0;
}

}  // namespace

KernelTime KernelTime::of_us(double us) {
  const auto ps = static_cast<std::int64_t>(std::llround(us * kPicosecondsPerUs));
  return {ps, ps};
}

KernelTime& KernelTime::operator+=(const KernelTime& other) {
  resident_ps += other.resident_ps;
  streamed_ps += other.streamed_ps;
  return *this;
}

KernelTime& KernelTime::operator-=(const KernelTime& other) {
  resident_ps -= other.resident_ps;
  streamed_ps -= other.streamed_ps;
  return *this;
}

// As ONNX Runtime's NchwcTransformer decides (onnxruntime/core/optimizer/nchwc_transformer.cc).
KernelCosts::Layout KernelCosts::layout(graph::SignatureId id) {
  if (layouts_.size() <= index(id)) layouts_.resize(tables_.signature_count(), Layout::unknown);
  Layout& known = layouts_[index(id)];
  if (known != Layout::unknown) return known;
  known = Layout::plain;
  const graph::Signature& s = tables_.signature(id);
  const auto channels = [&](std::size_t input, std::size_t axis) -> std::int64_t {
    const graph::TensorType& type = tables_.type(s.inputs[input]);
    return axis < type.rank() ? bindings_.value(type.dims[axis]) : 0;
  };
  const auto is_image = [&](std::size_t i) {
    const graph::TensorType& type = tables_.type(s.inputs[i]);
    return type.rank() == 4 && type.dtype == graph::DType::float32;
  };
  if (s.inputs.empty() || !is_image(0)) return known;
  if (s.kind == OpKind::conv) {
    if (!is_image(1) || s.constant[1] == 0) return known;
    const std::int64_t group = tables_.attrs(s.attrs).integer(Attr::group);
    const std::int64_t out = channels(1, 0), in = channels(1, 1);
    if (group > 1) {
      const bool depthwise = in == 1 && out == group;
      const bool whole = divides(in, device_.channel_block) && divides(out / group, device_.channel_block);
      if (divides(out, device_.channel_alignment) && (depthwise || whole)) known = Layout::blocked;
    } else if (static_cast<double>(in) < device_.channel_block) {
      known = Layout::first;
    } else if (divides(in, device_.channel_alignment)) {
      known = Layout::blocked;
    }
  } else if (s.kind == OpKind::max_pool || s.kind == OpKind::average_pool ||
             s.kind == OpKind::global_average_pool || s.kind == OpKind::global_max_pool) {
    if (divides(channels(0, 1), device_.channel_block)) known = Layout::blocked;
  }
  return known;
}

bool KernelCosts::starts_blocked(graph::SignatureId signature) {
  const Layout known = layout(signature);
  return known == Layout::blocked || known == Layout::first;
}

bool KernelCosts::reads_blocked(graph::SignatureId signature) {
  return layout(signature) == Layout::blocked;
}

const KernelCost& KernelCosts::of(graph::SignatureId id) {
  if (costs_.size() <= index(id)) costs_.resize(tables_.signature_count());
  auto& known = costs_[index(id)];
  if (known) return *known;
  const graph::Signature& s = tables_.signature(id);
  const KernelShape shape{device_, tables_, bindings_, s};
  KernelCost cost;
  cost.counts = graph::op_counts(tables_, s, bindings_);
  cost.view = is_view_kind(s.kind);
  if (is_linear(s.kind))
    cost.time = to_kernel_time(device_, linear_time(shape, starts_blocked(id)));
  else if (cost.view)
    cost.time = KernelTime::of_us(device_.view_us);
  else
    cost.time = KernelTime::of_us(device_.launch_us + element_time_us(shape, cost.counts));
  known = cost;
  return *known;
}

}  // namespace regraft::cost
