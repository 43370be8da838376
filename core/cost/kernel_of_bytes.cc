#include "core/cost/kernel_of_bytes.h"

#include <algorithm>

namespace regraft::cost {
namespace {

using graph::Attr;
using graph::DType;
using graph::kNoNode;
using graph::NodeId;
using graph::OpKind;

bool has_kernel(OpKind kind) {
  switch (kind) {
    case OpKind::conv:
    case OpKind::matmul:
    case OpKind::gemm:
    case OpKind::add:
    case OpKind::mul:
    case OpKind::softmax:
    case OpKind::sigmoid:
    case OpKind::leaky_relu:
    case OpKind::average_pool:
    case OpKind::global_average_pool:
      return true;
    default:
      return false;
  }
}

bool unsigned_bytes(const Neighbourhood& near, NodeId quantize) {
  if (near.type({quantize, 0}).dtype == DType::uint8) return true;
  const NodeId reader = near.only_user(quantize);
  return near.is(reader, OpKind::dequantize_linear) && near.only_user(reader) != kNoNode;
}

// Whether a Relu or Clip changes nothing that the QuantizeLinear behind it would keep. ONNX Runtime looks
// only where the zero point is written.
bool is_done_by_bytes(const Neighbourhood& near, NodeId node, NodeId quantize) {
  if (!near.is(quantize, OpKind::quantize_linear)) return false;
  const auto scale = near.number(near.input(quantize, 1)), zero = near.number(near.input(quantize, 2));
  if (!scale || !zero) return false;
  const DType bytes = near.type({quantize, 0}).dtype;
  if (bytes != DType::uint8 && bytes != DType::int8) return false;
  const double least = bytes == DType::uint8 ? 0 : -128;
  if (near.is(node, OpKind::relu)) return *zero == least;
  const bool scalars =
      near.type(near.input(quantize, 1)).rank() == 0 && near.type(near.input(quantize, 2)).rank() == 0;
  if (!near.is(node, OpKind::clip) || near.input_count(node) != 1 || !scalars) return false;
  const graph::AttrBlock& attrs = near.attrs(node);
  constexpr double kRounding = 0x1p-23;
  const double lower = *scale * (least - *zero), upper = *scale * (least + 255 - *zero);
  return (!attrs.has(Attr::min) || attrs.real(Attr::min) - lower <= kRounding) &&
         (!attrs.has(Attr::max) || upper - attrs.real(Attr::max) <= kRounding);
}

// The QuantizeLinear that reads what an operation makes.
NodeId quantize_behind(const Neighbourhood& near, NodeId node) {
  const NodeId user = near.only_user(node);
  if (!near.is(user, OpKind::relu) && !near.is(user, OpKind::clip))
    return near.is(user, OpKind::quantize_linear) ? user : kNoNode;
  const NodeId behind = near.only_user(user);
  return is_done_by_bytes(near, user, behind) ? behind : kNoNode;
}

// The runtime makes bytes of a bias.
bool is_bias(const Neighbourhood& near, NodeId node, std::size_t slot) {
  const bool takes_one = near.is(node, OpKind::conv) || near.is(node, OpKind::gemm);
  const graph::Value value = near.input(node, slot);
  return takes_one && slot == 2 && near.is(value.node, OpKind::weight) && near.type(value).rank() == 1;
}

// Constants are weights, which may be signed, and sums.
bool readable(const Neighbourhood& near, NodeId dequantize) {
  if (!near.is(dequantize, OpKind::dequantize_linear)) return false;
  const graph::Value bytes = near.input(dequantize, 0);
  if (near.is(bytes.node, OpKind::quantize_linear)) return unsigned_bytes(near, bytes.node);
  return near.is(bytes.node, OpKind::weight) || near.type(bytes).dtype == DType::uint8;
}

bool in_bytes(const Neighbourhood& near, NodeId node) {
  if (node == kNoNode || !has_kernel(near.kind(node))) return false;
  const NodeId behind = quantize_behind(near, node);
  if (behind == kNoNode || !unsigned_bytes(near, behind)) return false;
  for (std::size_t slot = 0; near.input(node, slot).present(); ++slot)
    if (!readable(near, near.input(node, slot).node) && !is_bias(near, node, slot)) return false;
  return true;
}

}  // namespace

NodeId kernel_of_bytes(const Neighbourhood& near, NodeId node) {
  if (!near.is(node, OpKind::dequantize_linear)) {
    const auto before = [&](NodeId id) {
      return near.input(id, 0).present() ? near.input(id, 0).node : kNoNode;
    };
    NodeId maker = before(node);
    if (near.is(maker, OpKind::relu) || near.is(maker, OpKind::clip)) maker = before(maker);
    return in_bytes(near, maker) ? maker : kNoNode;
  }
  const auto users = near.users(node);
  const bool all = !users.empty() &&
                   std::all_of(users.begin(), users.end(), [&](NodeId user) { return in_bytes(near, user); });
  return all ? users[0] : kNoNode;
}

}
