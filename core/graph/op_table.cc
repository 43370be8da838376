#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/graph/constants.h"
#include "core/graph/infer.h"

namespace regraft::graph {
namespace {

using K = OpKind;

// Attribute rows, shared by ops that take the same.
const std::vector<AttrSpec> kNoAttrs{};
const std::vector<AttrSpec> kAlphaLeaky{{Attr::alpha, 0.009999999776482582}};  // float32 0.01
const std::vector<AttrSpec> kAlphaOne{{Attr::alpha, 1.0}};
const std::vector<AttrSpec> kHardSigmoid{{Attr::alpha, 0.20000000298023224}, {Attr::beta, 0.5}};
const std::vector<AttrSpec> kGelu{{Attr::approximate, std::string("none")}};
const std::vector<AttrSpec> kClip{{Attr::min, {}, true}, {Attr::max, {}, true}};
const std::vector<AttrSpec> kCast{{Attr::to, {}}};
const std::vector<AttrSpec> kGemm{{Attr::alpha, 1.0},
                                  {Attr::beta, 1.0},
                                  {Attr::trans_a, std::int64_t{0}},
                                  {Attr::trans_b, std::int64_t{0}}};
const std::vector<AttrSpec> kConv{
    {Attr::kernel_shape, {}, true}, {Attr::strides, {}, true},      {Attr::pads, {}, true},
    {Attr::dilations, {}, true},    {Attr::group, std::int64_t{1}},
};
const std::vector<AttrSpec> kConvTranspose{{Attr::kernel_shape, {}, true},   {Attr::strides, {}, true},
                                           {Attr::pads, {}, true},           {Attr::dilations, {}, true},
                                           {Attr::output_padding, {}, true}, {Attr::group, std::int64_t{1}}};
const std::vector<AttrSpec> kMaxPool{
    {Attr::kernel_shape, {}},    {Attr::strides, {}, true},          {Attr::pads, {}, true},
    {Attr::dilations, {}, true}, {Attr::ceil_mode, std::int64_t{0}},
};
const std::vector<AttrSpec> kAveragePool{
    {Attr::kernel_shape, {}},
    {Attr::strides, {}, true},
    {Attr::pads, {}, true},
    {Attr::dilations, {}, true},
    {Attr::ceil_mode, std::int64_t{0}},
    {Attr::count_include_pad, std::int64_t{0}},
};
const std::vector<AttrSpec> kBatchNorm{{Attr::epsilon, 9.999999747378752e-06},
                                       {Attr::momentum, 0.8999999761581421}};
const std::vector<AttrSpec> kInstanceNorm{{Attr::epsilon, 9.999999747378752e-06}};
const std::vector<AttrSpec> kLayerNorm{{Attr::axis, std::int64_t{-1}},
                                       {Attr::epsilon, 9.999999747378752e-06}};
const std::vector<AttrSpec> kAxisLast{{Attr::axis, std::int64_t{-1}}};
const std::vector<AttrSpec> kAxisZero{{Attr::axis, std::int64_t{0}}};
const std::vector<AttrSpec> kAxisOne{{Attr::axis, std::int64_t{1}}};
// The type of a QuantizeLinear's bytes, which its zero point has.
const std::vector<AttrSpec> kQuantize{{Attr::axis, std::int64_t{1}},
                                      {Attr::to, static_cast<std::int64_t>(DType::uint8)}};
const std::vector<AttrSpec> kAxis{{Attr::axis, {}}};
const std::vector<AttrSpec> kReduce{{Attr::axes, {}, true}, {Attr::keepdims, std::int64_t{1}}};
const std::vector<AttrSpec> kShapeAttr{{Attr::shape, {}, true}};
const std::vector<AttrSpec> kPerm{{Attr::perm, {}, true}};
const std::vector<AttrSpec> kAxes{{Attr::axes, {}, true}};
const std::vector<AttrSpec> kSplit{{Attr::axis, std::int64_t{0}}, {Attr::split, {}, true}};
const std::vector<AttrSpec> kSlice{
    {Attr::starts, {}, true}, {Attr::ends, {}, true}, {Attr::axes, {}, true}, {Attr::steps, {}, true}};
const std::vector<AttrSpec> kTile{{Attr::repeats, {}, true}};
const std::vector<AttrSpec> kPad{{Attr::pads, {}, true},
                                 {Attr::value, {}, true},
                                 {Attr::axes, {}, true},
                                 {Attr::mode, std::string("constant")}};
const std::vector<AttrSpec> kConstantOfShape{{Attr::value, 0.0}, {Attr::to, std::int64_t{1}}};
const std::vector<AttrSpec> kResize{{Attr::shape, {}}};
const std::vector<AttrSpec> kEinsum{{Attr::equation, {}}};
const std::vector<AttrSpec> kMultiHeadAttention{{Attr::num_heads, {}}, {Attr::scale, {}}};

// Operands that are attributes when constant.
const std::vector<OperandAttr> kNoOperands{};
const std::vector<OperandAttr> kClipOperands{{1, Attr::min}, {2, Attr::max}};
const std::vector<OperandAttr> kShapeOperand{{1, Attr::shape}};
const std::vector<OperandAttr> kAxesOperand{{1, Attr::axes}};
const std::vector<OperandAttr> kSplitOperand{{1, Attr::split}};
const std::vector<OperandAttr> kSliceOperands{
    {1, Attr::starts}, {2, Attr::ends}, {3, Attr::axes}, {4, Attr::steps}};
const std::vector<OperandAttr> kTileOperand{{1, Attr::repeats}};
const std::vector<OperandAttr> kPadOperands{{1, Attr::pads}, {2, Attr::value}, {3, Attr::axes}};

constexpr std::uint32_t kUnary = kElementwise | kFoldable;
constexpr std::uint32_t kUnaryUp = kUnary | kMonotone;
constexpr std::uint32_t kBinary = kElementwise | kFoldable;
constexpr std::uint32_t kBinaryC = kBinary | kCommutative;
constexpr std::uint32_t kMove = kMovement | kFoldable;

OpInfo unary(K kind, const char* name, std::uint32_t traits, const std::vector<AttrSpec>& attrs = kNoAttrs) {
  return {kind, name, 1, 1, traits, attrs, kNoOperands, infer_same, nullptr};
}

OpInfo binary(K kind, const char* name, std::uint32_t traits, decltype(OpInfo::infer) infer) {
  return {kind, name, 2, 2, traits, kNoAttrs, kNoOperands, infer, nullptr};
}

const std::vector<OpInfo> kTable{
    {K::input, "Input", 0, 0, 0, kNoAttrs, kNoOperands, nullptr, nullptr},
    {K::weight, "Weight", 0, 0, 0, kNoAttrs, kNoOperands, nullptr, nullptr},
    {K::opaque, "Opaque", 0, 255, kVariadic, kNoAttrs, kNoOperands, nullptr, nullptr},
    unary(K::relu, "Relu", kUnaryUp),
    unary(K::leaky_relu, "LeakyRelu", kUnary, kAlphaLeaky),
    unary(K::elu, "Elu", kUnary, kAlphaOne),
    unary(K::sigmoid, "Sigmoid", kUnaryUp),
    unary(K::hard_sigmoid, "HardSigmoid", kUnary, kHardSigmoid),
    unary(K::hard_swish, "HardSwish", kUnary),
    unary(K::tanh, "Tanh", kUnaryUp),
    unary(K::softplus, "Softplus", kUnaryUp),
    unary(K::erf, "Erf", kUnaryUp),
    unary(K::gelu, "Gelu", kUnary, kGelu),
    unary(K::exp, "Exp", kUnaryUp),
    unary(K::log, "Log", kUnary),
    unary(K::sqrt, "Sqrt", kUnary),
    unary(K::reciprocal, "Reciprocal", kUnary),
    unary(K::neg, "Neg", kUnary),
    unary(K::abs, "Abs", kUnary),
    unary(K::floor, "Floor", kUnaryUp),
    unary(K::ceil, "Ceil", kUnaryUp),
    unary(K::round, "Round", kUnaryUp),
    unary(K::sign, "Sign", kUnaryUp),
    unary(K::sin, "Sin", kUnary),
    unary(K::cos, "Cos", kUnary),
    {K::clip, "Clip", 1, 3, kUnaryUp, kClip, kClipOperands, infer_same, nullptr},
    unary(K::identity, "Identity", kUnaryUp | kMovement),
    {K::cast, "Cast", 1, 1, kUnary, kCast, kNoOperands, infer_cast, nullptr},
    unary(K::logical_not, "Not", kUnary),
    binary(K::add, "Add", kBinaryC, infer_broadcast),
    binary(K::sub, "Sub", kBinary, infer_broadcast),
    binary(K::mul, "Mul", kBinaryC, infer_broadcast),
    binary(K::div, "Div", kBinary, infer_broadcast),
    binary(K::pow, "Pow", kBinary, infer_broadcast),
    {K::max, "Max", 1, 255, kBinaryC | kVariadic, kNoAttrs, kNoOperands, infer_broadcast, nullptr},
    {K::min, "Min", 1, 255, kBinaryC | kVariadic, kNoAttrs, kNoOperands, infer_broadcast, nullptr},
    {K::sum, "Sum", 1, 255, kBinaryC | kVariadic, kNoAttrs, kNoOperands, infer_broadcast, nullptr},
    binary(K::prelu, "PRelu", kBinary, infer_prelu),
    binary(K::equal, "Equal", kBinaryC, infer_compare),
    binary(K::greater, "Greater", kBinary, infer_compare),
    binary(K::less, "Less", kBinary, infer_compare),
    binary(K::greater_or_equal, "GreaterOrEqual", kBinary, infer_compare),
    binary(K::less_or_equal, "LessOrEqual", kBinary, infer_compare),
    binary(K::logical_and, "And", kBinaryC, infer_compare),
    binary(K::logical_or, "Or", kBinaryC, infer_compare),
    {K::where, "Where", 3, 3, kBinary, kNoAttrs, kNoOperands, infer_where, nullptr},
    {K::cast_like, "CastLike", 2, 2, kFoldable, kNoAttrs, kNoOperands, infer_cast_like, nullptr},
    {K::matmul, "MatMul", 2, 2, kFoldable, kNoAttrs, kNoOperands, infer_matmul, nullptr},
    {K::gemm, "Gemm", 2, 3, 0, kGemm, kNoOperands, infer_gemm, nullptr},
    {K::conv, "Conv", 2, 3, 0, kConv, kNoOperands, infer_conv, normalise_window},
    {K::conv_transpose, "ConvTranspose", 2, 3, 0, kConvTranspose, kNoOperands, infer_conv_transpose,
     normalise_window},
    {K::batch_norm, "BatchNormalization", 5, 5, 0, kBatchNorm, kNoOperands, infer_batch_norm, nullptr},
    {K::layer_norm, "LayerNormalization", 2, 3, 0, kLayerNorm, kNoOperands, infer_layer_norm, normalise_axis},
    {K::instance_norm, "InstanceNormalization", 3, 3, 0, kInstanceNorm, kNoOperands, infer_same, nullptr},
    {K::softmax, "Softmax", 1, 1, 0, kAxisLast, kNoOperands, infer_same, normalise_axis},
    {K::log_softmax, "LogSoftmax", 1, 1, 0, kAxisLast, kNoOperands, infer_same, normalise_axis},
    {K::reduce_mean, "ReduceMean", 1, 2, kFoldable, kReduce, kAxesOperand, infer_reduce, normalise_reduce},
    {K::reduce_sum, "ReduceSum", 1, 2, kFoldable, kReduce, kAxesOperand, infer_reduce, normalise_reduce},
    {K::reduce_max, "ReduceMax", 1, 2, kFoldable, kReduce, kAxesOperand, infer_reduce, normalise_reduce},
    {K::reduce_min, "ReduceMin", 1, 2, kFoldable, kReduce, kAxesOperand, infer_reduce, normalise_reduce},
    {K::max_pool, "MaxPool", 1, 1, 0, kMaxPool, kNoOperands, infer_pool, normalise_window},
    {K::average_pool, "AveragePool", 1, 1, 0, kAveragePool, kNoOperands, infer_pool, normalise_window},
    {K::global_average_pool, "GlobalAveragePool", 1, 1, 0, kNoAttrs, kNoOperands, infer_global_pool, nullptr},
    {K::global_max_pool, "GlobalMaxPool", 1, 1, 0, kNoAttrs, kNoOperands, infer_global_pool, nullptr},
    {K::reshape, "Reshape", 1, 2, kMove, kShapeAttr, kShapeOperand, infer_reshape, normalise_reshape},
    {K::flatten, "Flatten", 1, 1, kMove, kAxisOne, kNoOperands, infer_flatten, normalise_axis_past_end},
    {K::transpose, "Transpose", 1, 1, kMove, kPerm, kNoOperands, infer_transpose, normalise_transpose},
    {K::squeeze, "Squeeze", 1, 2, kMove, kAxes, kAxesOperand, infer_squeeze, normalise_squeeze},
    {K::unsqueeze, "Unsqueeze", 1, 2, kMove, kAxes, kAxesOperand, infer_unsqueeze, normalise_unsqueeze},
    {K::concat, "Concat", 1, 255, kMove | kVariadic, kAxis, kNoOperands, infer_concat, normalise_axis},
    {K::split, "Split", 1, 2, kMove | kMultiOutput, kSplit, kSplitOperand, infer_split, normalise_split},
    {K::slice, "Slice", 1, 5, kMove, kSlice, kSliceOperands, infer_slice, normalise_slice},
    {K::gather, "Gather", 2, 2, kMove, kAxisZero, kNoOperands, infer_gather, normalise_axis},
    {K::gather_elements, "GatherElements", 2, 2, kMove, kAxisZero, kNoOperands, infer_gather_elements,
     normalise_axis},
    {K::expand, "Expand", 1, 2, kMove, kShapeAttr, kShapeOperand, infer_expand, nullptr},
    {K::tile, "Tile", 1, 2, kMove, kTile, kTileOperand, infer_tile, nullptr},
    {K::pad, "Pad", 1, 4, kFoldable, kPad, kPadOperands, infer_pad, normalise_pad},
    {K::shape, "Shape", 1, 1, 0, kNoAttrs, kNoOperands, infer_shape, nullptr},
    {K::constant_of_shape, "ConstantOfShape", 1, 1, kFoldable, kConstantOfShape, kNoOperands,
     infer_constant_of_shape, nullptr},
    {K::multi_head_attention, "MultiHeadAttention", 3, 6, 0, kMultiHeadAttention, kNoOperands,
     infer_attention, normalise_attention, "com.microsoft"},
    {K::resize, "Resize", 1, 1, kMove, kResize, kNoOperands, infer_resize, nullptr},
    {K::quantize_linear, "QuantizeLinear", 2, 3, 0, kQuantize, kNoOperands, infer_quantize,
     normalise_quantised},
    {K::dequantize_linear, "DequantizeLinear", 2, 3, 0, kAxisOne, kNoOperands, infer_dequantize,
     normalise_quantised},
    {K::einsum, "Einsum", 2, 2, 0, kEinsum, kNoOperands, infer_einsum, nullptr},
    {K::lstm, "LSTM", 3, 7, kMultiOutput, kNoAttrs, kNoOperands, infer_recurrence, nullptr},
    {K::gru, "GRU", 3, 6, kMultiOutput, kNoAttrs, kNoOperands, infer_recurrence, nullptr},
};

/// Moves constant operands into attributes: all that are present, or none.
void absorb_operands(const Tables& tables, const OpInfo& op, AttrBlock& attrs,
                     InlineVector<Operand, 4>& operands) {
  const bool some = std::any_of(op.operand_attrs.begin(), op.operand_attrs.end(),
                                [&](const auto& row) { return has_operand(operands, row.input); });
  if (!some) return;
  AttrBlock absorbed = attrs;
  bool any = false;
  for (const auto& [input, attr] : op.operand_attrs) {
    if (!has_operand(operands, input)) continue;
    const WeightId value = operands[input].value;
    if (value == WeightId::none) return;
    const bool real = attr == Attr::min || attr == Attr::max || attr == Attr::value;
    if (real) {
      const auto number = scalar_value(tables, value, 1);
      if (!number) return;
      absorbed.set(attr, *number);
    } else {
      const auto list = integer_values(tables, value);
      if (!list) return;
      absorbed.set(attr, Ints(list->begin(), list->end()));
    }
    any = true;
  }
  if (!any) return;
  attrs = std::move(absorbed);
  for (const auto& row : op.operand_attrs)
    if (row.input < operands.size()) operands[row.input].present = false;
}

void check_attrs(const OpInfo& op, AttrBlock& attrs) {
  for (const auto& [attr, value] : attrs.entries()) {
    const bool known = std::any_of(op.attrs.begin(), op.attrs.end(),
                                   [wanted = attr](const AttrSpec& s) { return s.attr == wanted; });
    if (!known) fail(op, "takes no attribute " + std::string(attr_name(attr)));
  }
  for (const AttrSpec& spec : op.attrs) {
    const AttrValue* held = attrs.find(spec.attr);
    if (!held) {
      if (spec.fallback)
        attrs.set(spec.attr, *spec.fallback);
      else if (!spec.optional)
        fail(op, "attribute " + std::string(attr_name(spec.attr)) + " is missing");
    } else if (spec.fallback && held->index() != spec.fallback->index()) {
      const bool widens =
          std::holds_alternative<double>(*spec.fallback) && std::holds_alternative<std::int64_t>(*held);
      if (!widens) fail(op, "attribute " + std::string(attr_name(spec.attr)) + " has the wrong type");
      attrs.set(spec.attr, static_cast<double>(std::get<std::int64_t>(*held)));
    }
  }
}

}  // namespace

const OpInfo& op_info(OpKind kind) {
  return kTable[static_cast<std::size_t>(kind)];
}

std::optional<OpKind> op_from_name(std::string_view name) {
  static const auto by_name = [] {
    std::unordered_map<std::string_view, OpKind> map;
    for (const OpInfo& row : kTable)
      if (row.infer) map.emplace(row.name, row.kind);
    return map;
  }();
  const auto found = by_name.find(name);
  return found == by_name.end() ? std::nullopt : std::optional(found->second);
}

std::span<const std::string_view> runtime_domains() {
  static const std::vector<std::string_view> domains = [] {
    std::vector<std::string_view> found;
    for (const OpInfo& row : kTable)
      if (!row.domain.empty() && std::find(found.begin(), found.end(), row.domain) == found.end())
        found.push_back(row.domain);
    return found;
  }();
  return domains;
}

std::size_t output_count(OpKind kind, const AttrBlock& attrs) {
  switch (kind) {
    case OpKind::split:
      return attrs.ints(Attr::split).size();
    case OpKind::lstm:
      return 3;
    case OpKind::gru:
      return 2;
    default:
      return 1;
  }
}

AttrBlock canonical_attrs(Tables& tables, OpKind kind, AttrBlock attrs, InlineVector<Operand, 4>& operands) {
  const OpInfo& op = op_info(kind);
  absorb_operands(tables, op, attrs, operands);
  while (!operands.empty() && !operands.back().present) operands.pop_back();
  if (operands.size() < op.min_inputs) fail(op, "has too few inputs");
  check_attrs(op, attrs);
  if (op.normalise) op.normalise(tables, op, attrs, operands);
  for (const auto& [input, attr] : op.operand_attrs) {
    const bool needed = input == 1 && (attr == Attr::shape || attr == Attr::repeats || attr == Attr::starts ||
                                       attr == Attr::pads);
    if (needed && !has_operand(operands, input) && !attrs.has(attr))
      fail(op, "neither attribute nor operand " + std::string(attr_name(attr)) + " is given");
  }
  return attrs;
}

}
