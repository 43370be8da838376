#include "core/proof/symbolic/interpretation.h"

namespace regraft::proof {

using graph::OpKind;

Interpretation interpretation(OpKind kind) {
  switch (kind) {
    // symbolic_ops.cc
    case OpKind::add:
    case OpKind::sum:
    case OpKind::sub:
    case OpKind::mul:
    case OpKind::div:
    case OpKind::neg:
    case OpKind::reciprocal:
    case OpKind::identity:
    case OpKind::matmul:
    case OpKind::gemm:
    case OpKind::conv:
    // symbolic_norm.cc
    case OpKind::batch_norm:
    case OpKind::layer_norm:
    case OpKind::softmax:
    case OpKind::reduce_mean:
    case OpKind::reduce_sum:
    case OpKind::global_average_pool:
    // symbolic_movement.cc
    case OpKind::transpose:
    case OpKind::reshape:
    case OpKind::flatten:
    case OpKind::squeeze:
    case OpKind::unsqueeze:
    case OpKind::concat:
    case OpKind::split:
    case OpKind::slice:
    case OpKind::gather:
      return Interpretation::defined;
    case OpKind::cast:  // changes the type of elements
    case OpKind::clip:  // has operands that may be absent
      return Interpretation::unsupported;
    default:
      return graph::op_info(kind).is(graph::kElementwise) ? Interpretation::uninterpreted
                                                          : Interpretation::unsupported;
  }
}

}
