#include "core/cost/kernel_of_bytes.h"

#include <algorithm>

namespace regraft::cost {
namespace {

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

// Constants are weights, which may be signed, and sums.
bool readable(const Neighbourhood& near, NodeId dequantize) {
  if (!near.is(dequantize, OpKind::dequantize_linear)) return false;
  const graph::Value bytes = near.input(dequantize, 0);
  if (near.is(bytes.node, OpKind::quantize_linear)) return unsigned_bytes(near, bytes.node);
  return near.is(bytes.node, OpKind::weight) || near.type(bytes).dtype == DType::uint8;
}

bool in_bytes(const Neighbourhood& near, NodeId node) {
  if (node == kNoNode || !has_kernel(near.kind(node))) return false;
  const NodeId behind = near.only_user(node);
  if (!near.is(behind, OpKind::quantize_linear) || !unsigned_bytes(near, behind)) return false;
  for (std::size_t slot = 0; near.input(node, slot).present(); ++slot)
    if (!readable(near, near.input(node, slot).node)) return false;
  return true;
}

}  // namespace

NodeId kernel_of_bytes(const Neighbourhood& near, NodeId node) {
  if (near.is(node, OpKind::quantize_linear)) {
    const NodeId maker = near.input(node, 0).node;
    return in_bytes(near, maker) ? maker : kNoNode;
  }
  const auto users = near.users(node);
  const bool all = !users.empty() &&
                   std::all_of(users.begin(), users.end(), [&](NodeId user) { return in_bytes(near, user); });
  return all ? users[0] : kNoNode;
}

}
