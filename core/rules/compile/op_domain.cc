#include "core/rules/compile/op_domain.h"

#include <algorithm>

namespace regraft::rules {

using graph::OpKind;

bool computes(OpKind kind) {
  if (graph::op_info(kind).is(graph::kMovement)) return false;
  switch (kind) {
    case OpKind::input:
    case OpKind::weight:
    case OpKind::opaque:
    case OpKind::identity:
    case OpKind::pad:
    case OpKind::shape:
    case OpKind::constant_of_shape:
    case OpKind::cast:
    case OpKind::cast_like:
    case OpKind::where:
    case OpKind::relu:
    case OpKind::clip:
    case OpKind::max:
    case OpKind::min:
    case OpKind::max_pool:
    case OpKind::global_max_pool:
    case OpKind::reduce_max:
    case OpKind::reduce_min:
    case OpKind::equal:
    case OpKind::greater:
    case OpKind::less:
    case OpKind::greater_or_equal:
    case OpKind::less_or_equal:
    case OpKind::logical_not:
    case OpKind::logical_and:
    case OpKind::logical_or:
    case OpKind::quantize_linear:  // of floats to bytes, and back
    case OpKind::dequantize_linear:
      return false;
    default:
      return true;
  }
}

bool needs_floats(const PatternNode& node) {
  bool elementwise = true, number = false;
  for (std::size_t k = 0; k < node.kinds.size(); ++k) {
    if (!node.kinds.test(k)) continue;
    const auto kind = static_cast<OpKind>(k);
    elementwise = elementwise && graph::op_info(kind).is(graph::kElementwise);
    number = number || computes(kind);
  }
  return number && (node.kinds.count() == 1 || !elementwise);
}

bool needs_floats(const RightStep& step) {
  return step.form == RightStep::Form::operation && !step.op && computes(step.kind);
}

bool needs_floats(const CompiledRule& rule) {
  const auto needs = [](const auto& each) { return needs_floats(each); };
  return std::any_of(rule.nodes.begin(), rule.nodes.end(), needs) ||
         std::any_of(rule.right.begin(), rule.right.end(), needs);
}

}
