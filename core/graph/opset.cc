#include "core/graph/opset.h"

#include <algorithm>

namespace regraft::graph {
namespace {

bool all_ones(const AttrBlock& attrs, Attr attr) {
  if (!attrs.has(attr)) return true;
  const Ints& list = attrs.ints(attr);
  return std::all_of(list.begin(), list.end(), [](std::int64_t item) { return item == 1; });
}

std::string needs(const char* what, std::int64_t opset) {
  return std::string(what) + "needs opset " + std::to_string(opset);
}

std::string softmax_problem(const Tables& tables, const AttrBlock& attrs, std::span<const TypeId> inputs) {
  constexpr std::int64_t kAnyAxisSince = 13;  // before, it flattened to two dims at its axis
  if (tables.opset() >= kAnyAxisSince || inputs.empty()) return "";
  const TensorType& x = tables.type(inputs[0]);
  const bool last = x.ranked && attrs.integer(Attr::axis) + 1 == static_cast<std::int64_t>(x.rank());
  return last ? "" : needs("along any but the last axis ", kAnyAxisSince);
}

std::string pool_problem(const Tables& tables, OpKind kind, const AttrBlock& attrs) {
  const std::int64_t dilated_since = kind == OpKind::max_pool ? 10 : 19;
  if (tables.opset() < dilated_since && !all_ones(attrs, Attr::dilations))
    return needs("with dilations ", dilated_since);
  const bool ceils = attrs.has(Attr::ceil_mode) && attrs.integer(Attr::ceil_mode) != 0;
  return tables.opset() < 10 && ceils ? needs("with ceil_mode ", 10) : "";
}

/// Max, Min and Sum broadcast, and Max and Min take integers, from later versions on.
std::string variadic_problem(const Tables& tables, OpKind kind, std::span<const TypeId> inputs) {
  if (inputs.empty()) return "";
  const auto same_dims = [&](TypeId id) { return tables.type(id).dims == tables.type(inputs[0]).dims; };
  if (tables.opset() < 8 && !std::all_of(inputs.begin(), inputs.end(), same_dims))
    return needs("with broadcasting ", 8);
  const bool integer = kind != OpKind::sum && !is_float(tables.type(inputs[0]).dtype);
  return tables.opset() < 12 && integer ? needs("of integers ", 12) : "";
}

}  // namespace

std::int64_t first_opset(OpKind kind) {
  switch (kind) {
    case OpKind::expand:
      return 8;
    case OpKind::erf:
    case OpKind::sign:
    case OpKind::where:
    case OpKind::constant_of_shape:
      return 9;
    case OpKind::resize:
    case OpKind::quantize_linear:
    case OpKind::dequantize_linear:
      return 10;
    case OpKind::round:
    case OpKind::gather_elements:
      return 11;
    case OpKind::greater_or_equal:
    case OpKind::less_or_equal:
    case OpKind::einsum:
      return 12;
    case OpKind::hard_swish:
      return 14;
    case OpKind::cast_like:
      return 15;
    case OpKind::layer_norm:
      return 17;
    case OpKind::gelu:
      return 20;
    default:
      return 7;
  }
}

std::string missing_form(const Tables& tables, OpKind kind, const AttrBlock& attrs,
                         std::span<const TypeId> inputs) {
  if (tables.opset() < first_opset(kind)) return needs("", first_opset(kind));
  switch (kind) {
    case OpKind::softmax:
    case OpKind::log_softmax:
      return softmax_problem(tables, attrs, inputs);
    case OpKind::max_pool:
    case OpKind::average_pool:
      return pool_problem(tables, kind, attrs);
    case OpKind::max:
    case OpKind::min:
    case OpKind::sum:
      return variadic_problem(tables, kind, inputs);
    case OpKind::clip:
      return tables.opset() < 12 && !inputs.empty() && !is_float(tables.type(inputs[0]).dtype)
                 ? needs("of integers ", 12)
                 : "";
    case OpKind::quantize_linear:
    case OpKind::dequantize_linear:
      return tables.opset() < 13 && inputs.size() > 1 && tables.type(inputs[1]).element_count() != 1
                 ? needs("by axis ", 13)
                 : "";
    case OpKind::slice:
      return tables.opset() < 10 && !all_ones(attrs, Attr::steps) ? needs("with steps ", 10) : "";
    default:
      return "";
  }
}

std::string missing_kernel(const Tables& tables, OpKind kind, std::span<const TypeId> inputs) {
  const bool float32_only = kind == OpKind::multi_head_attention || is_recurrence(kind);
  if (float32_only && !inputs.empty() && tables.type(inputs[0]).dtype != DType::float32)
    return "has no kernel for " + dtype_name(tables.type(inputs[0]).dtype);
  if (kind == OpKind::resize && !inputs.empty()) {
    const DType dtype = tables.type(inputs[0]).dtype;
    const bool known =
        dtype == DType::float32 || dtype == DType::int32 || dtype == DType::int8 || dtype == DType::uint8;
    return known ? "" : "has no kernel for " + dtype_name(dtype);
  }
  const bool floats_only = kind == OpKind::gemm || kind == OpKind::sum;
  if (!floats_only || inputs.empty() || is_float(tables.type(inputs[0]).dtype)) return "";
  return "has no kernel for " + dtype_name(tables.type(inputs[0]).dtype);
}

}
