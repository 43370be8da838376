#include "core/graph/op_counts.h"

#include <algorithm>

#include "core/graph/opaque_work.h"

namespace regraft::graph {
namespace {

/// Flops an element of elementwise ops; transcendental ones by their usual polynomial length.
std::int64_t flops_per_element(OpKind kind) {
  switch (kind) {
    case OpKind::sigmoid:
    case OpKind::tanh:
    case OpKind::exp:
    case OpKind::log:
    case OpKind::erf:
    case OpKind::softplus:
    case OpKind::sin:
    case OpKind::cos:
    case OpKind::pow:
      return 10;
    case OpKind::gelu:
      return 14;
    case OpKind::sqrt:
    case OpKind::reciprocal:
    case OpKind::div:
    case OpKind::elu:
      return 4;
    default:
      return 1;
  }
}

std::int64_t numel(const Tables& tables, TypeId type, const Bindings& bindings) {
  return bindings.element_count(tables.type(type));
}

std::int64_t weight_elements_per_output(const Tables& tables, const Signature& s, const Bindings& bindings) {
  const TensorType& w = tables.type(s.inputs[1]);
  if (!w.ranked || w.rank() == 0) return 0;
  return bindings.element_count(w) / std::max<std::int64_t>(bindings.value(w.dims[0]), 1);
}

std::int64_t flops(const Tables& tables, const Signature& s, const Bindings& bindings) {
  const std::int64_t out = s.outputs.empty() ? 0 : numel(tables, s.outputs[0], bindings);
  const AttrBlock& attrs = tables.attrs(s.attrs);
  const auto inner = [&](std::size_t input, std::size_t from_end) -> std::int64_t {
    const TensorType& type = tables.type(s.inputs[input]);
    return type.rank() < from_end ? 1 : bindings.value(type.dims[type.rank() - from_end]);
  };
  const auto in_elements = [&] { return s.inputs.empty() ? 0 : numel(tables, s.inputs[0], bindings); };
  switch (s.kind) {
    case OpKind::matmul:
      return 2 * out * inner(0, 1);
    case OpKind::gemm:
      return 2 * out * (attrs.integer(Attr::trans_a) != 0 ? inner(0, 2) : inner(0, 1));
    case OpKind::conv:
      return 2 * out * weight_elements_per_output(tables, s, bindings);
    case OpKind::conv_transpose:
      return 2 * in_elements() * weight_elements_per_output(tables, s, bindings);
    case OpKind::multi_head_attention: {
      // Two products a head, and the softmax of the scores between them.
      const std::int64_t heads = attrs.integer(Attr::num_heads), keys = inner(1, 2);
      const std::int64_t pairs = in_elements() / std::max<std::int64_t>(inner(0, 1), 1) * keys;
      return pairs * (2 * (inner(0, 1) + inner(2, 1)) + 13 * heads);
    }
    case OpKind::softmax:
    case OpKind::log_softmax:
      return 12 * out;
    case OpKind::layer_norm:
    case OpKind::instance_norm:
      return 8 * out;
    case OpKind::einsum:
    case OpKind::lstm:
    case OpKind::gru:
    case OpKind::opaque:
      return opaque_flops(tables, s, bindings);
    case OpKind::batch_norm:
      return 2 * out;
    case OpKind::max_pool:
    case OpKind::average_pool: {
      std::int64_t window = 1;
      for (const std::int64_t k : attrs.ints(Attr::kernel_shape)) window *= k;
      return out * window;
    }
    case OpKind::global_average_pool:
    case OpKind::global_max_pool:
    case OpKind::reduce_mean:
    case OpKind::reduce_sum:
    case OpKind::reduce_max:
    case OpKind::reduce_min:
      return in_elements();
    default:
      break;
  }
  const OpInfo& op = op_info(s.kind);
  if (!op.is(kElementwise) || op.is(kMovement)) return 0;
  const auto operands = static_cast<std::int64_t>(std::max<std::size_t>(s.inputs.size(), 2) - 1);
  return out * flops_per_element(s.kind) * operands;
}

}  // namespace

OpCounts op_counts(const Tables& tables, const Signature& signature, const Bindings& bindings) {
  OpCounts counts;
  const auto bytes = [&](TypeId type) {
    return numel(tables, type, bindings) * static_cast<std::int64_t>(dtype_bytes(tables.type(type).dtype));
  };
  for (std::size_t i = 0; i < signature.inputs.size(); ++i)
    (signature.constant[i] ? counts.weight_bytes : counts.read_bytes) += bytes(signature.inputs[i]);
  for (const TypeId type : signature.outputs) counts.write_bytes += bytes(type);
  counts.flops = flops(tables, signature, bindings);
  return counts;
}

}
