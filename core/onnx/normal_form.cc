#include "core/onnx/normal_form.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/graph/einsum_products.h"
#include "core/graph/evaluate.h"
#include "core/onnx/recurrent_nodes.h"
#include "core/onnx/shape_elements.h"
#include "core/onnx/tensor_data.h"

namespace regraft::onnx {
namespace {

namespace pb = ::onnx;
using graph::Attr;
using graph::AttrBlock;
using graph::AttrValue;
using graph::Ints;
using graph::OpKind;

/// An attribute that changes nothing at this value. At any other the node stays opaque.
struct HarmlessAttribute {
  OpKind kind;
  std::string_view name;
  std::int64_t value;
};

constexpr std::array kHarmless{
    HarmlessAttribute{OpKind::batch_norm, "training_mode", 0},
    HarmlessAttribute{OpKind::batch_norm, "spatial", 1},
    HarmlessAttribute{OpKind::layer_norm, "stash_type", 1},
    HarmlessAttribute{OpKind::max_pool, "storage_order", 0},
    HarmlessAttribute{OpKind::cast, "saturate", 1},
    HarmlessAttribute{OpKind::cast_like, "saturate", 1},
    HarmlessAttribute{OpKind::shape, "start", 0},
    HarmlessAttribute{OpKind::reshape, "allowzero", 0},
    HarmlessAttribute{OpKind::multi_head_attention, "unidirectional", 0},
    HarmlessAttribute{OpKind::quantize_linear, "saturate", 1},
    HarmlessAttribute{OpKind::quantize_linear, "block_size", 0},
    HarmlessAttribute{OpKind::quantize_linear, "output_dtype", 0},
    HarmlessAttribute{OpKind::quantize_linear, "precision", 0},
    HarmlessAttribute{OpKind::dequantize_linear, "block_size", 0},
    HarmlessAttribute{OpKind::dequantize_linear, "output_dtype", 0},
};

const pb::AttributeProto* find(const pb::NodeProto& node, std::string_view name) {
  for (const pb::AttributeProto& attribute : node.attribute())
    if (attribute.name() == name) return &attribute;
  return nullptr;
}

bool is_harmless(OpKind kind, const pb::AttributeProto& attribute) {
  return std::any_of(kHarmless.begin(), kHarmless.end(), [&](const HarmlessAttribute& row) {
    return row.kind == kind && row.name == attribute.name() && attribute.type() == pb::AttributeProto::INT &&
           row.value == attribute.i();
  });
}

/// Attributes that a function below turns into others.
bool is_handled(OpKind kind, std::string_view name) {
  const bool windowed = kind == OpKind::conv || kind == OpKind::conv_transpose || kind == OpKind::max_pool ||
                        kind == OpKind::average_pool;
  const bool reduces = kind == OpKind::reduce_mean || kind == OpKind::reduce_sum ||
                       kind == OpKind::reduce_max || kind == OpKind::reduce_min;
  return (windowed && name == "auto_pad") || (reduces && name == "noop_with_empty_axes") ||
         (kind == OpKind::split && name == "num_outputs") ||
         (kind == OpKind::reshape && name == "allowzero") ||
         (kind == OpKind::constant_of_shape && name == "value") ||
         (kind == OpKind::multi_head_attention && (name == "scale" || name == "mask_filter_value")) ||
         (kind == OpKind::resize && name != "axes") || graph::is_recurrence(kind) ||
         (kind == OpKind::identity && (name == "ratio" || name == "seed"));  // of a Dropout
}

std::optional<AttrBlock> read_plain(const pb::NodeProto& node, OpKind kind) {
  AttrBlock attrs;
  const auto specs = graph::op_info(kind).attrs;
  for (const pb::AttributeProto& attribute : node.attribute()) {
    if (!attribute.ref_attr_name().empty()) return std::nullopt;
    if (is_handled(kind, attribute.name()) || is_harmless(kind, attribute)) continue;
    const auto attr = graph::attr_from_name(attribute.name());
    const bool taken = attr && std::any_of(specs.begin(), specs.end(),
                                           [&](const graph::AttrSpec& s) { return s.attr == *attr; });
    auto value = taken ? attribute_value(attribute) : std::nullopt;
    if (!value || attrs.has(*attr)) return std::nullopt;
    attrs.set(*attr, std::move(*value));
  }
  return attrs;
}

using Wide = __int128;  // a model may say anything

const Ints* ints_or_null(const AttrBlock& attrs, Attr attr) {
  const AttrValue* value = attrs.find(attr);
  return value ? std::get_if<Ints>(value) : nullptr;
}

/// SAME_UPPER and SAME_LOWER: the output has ceil(in / stride) positions; an odd pad goes to the end or to
/// the begin.
bool pad_same(const graph::TensorType& x, const Ints& kernel, bool upper, AttrBlock& attrs) {
  if (!x.ranked || x.rank() != kernel.size() + 2) return false;
  const std::size_t n = kernel.size();
  const Ints *strides = ints_or_null(attrs, Attr::strides), *dilations = ints_or_null(attrs, Attr::dilations);
  if ((strides && strides->size() != n) || (dilations && dilations->size() != n)) return false;
  Ints pads(2 * n, 0);
  for (std::size_t i = 0; i < n; ++i) {
    const Wide stride = strides ? (*strides)[i] : 1,
               reach = Wide{kernel[i] - 1} * (dilations ? (*dilations)[i] : 1);
    if (stride <= 0 || kernel[i] <= 0) return false;
    if (graph::is_symbol(x.dims[i + 2]) && stride != 1) return false;
    const Wide in = x.dims[i + 2], out = (in + stride - 1) / stride;
    const Wide wanted = stride == 1 ? reach : std::max<Wide>((out - 1) * stride + reach + 1 - in, 0);
    if (wanted > std::numeric_limits<std::int64_t>::max()) return false;
    const auto total = static_cast<std::int64_t>(wanted);
    pads[i] = upper ? total / 2 : total - total / 2;
    pads[i + n] = total - pads[i];
  }
  attrs.set(Attr::pads, std::move(pads));
  return true;
}

/// Where a last window that is rounded up would begin in the padding, the standard's own inference counts it
/// before opset 22 and runtimes drop it: the size of the result is not certain then.
bool rounds_up_safely(std::int64_t opset, const graph::Tables& tables,
                      std::span<const graph::Operand> operands, const AttrBlock& attrs) {
  constexpr std::int64_t kSettledOpset = 22;
  if (!attrs.has(Attr::ceil_mode) || attrs.integer(Attr::ceil_mode) == 0 || opset >= kSettledOpset)
    return true;
  const Ints* kernel = ints_or_null(attrs, Attr::kernel_shape);
  if (!kernel || operands.empty() || !tables.type(operands[0].type).ranked) return false;
  const graph::TensorType& x = tables.type(operands[0].type);
  const std::size_t n = kernel->size();
  const auto list = [&](Attr attr, std::size_t size, std::int64_t fallback) {
    const Ints* given = ints_or_null(attrs, attr);
    return given ? *given : Ints(size, fallback);
  };
  const Ints strides = list(Attr::strides, n, 1), dilations = list(Attr::dilations, n, 1),
             pads = list(Attr::pads, 2 * n, 0);
  if (x.rank() != n + 2 || strides.size() != n || dilations.size() != n || pads.size() != 2 * n) return false;
  for (std::size_t i = 0; i < n; ++i) {
    if ((*kernel)[i] <= 0 || strides[i] <= 0) return false;
    const Wide reach = Wide{(*kernel)[i] - 1} * dilations[i] + 1, in = x.dims[i + 2];
    if (Wide{strides[i]} + pads[i + n] <= reach) continue;  // no window can begin that far
    if (graph::is_symbol(x.dims[i + 2])) return false;
    const Wide steps = (in + pads[i] + pads[i + n] - reach + strides[i] - 1) / strides[i];
    if (steps * strides[i] >= in + pads[i]) return false;
  }
  return true;
}

bool resolve_auto_pad(const pb::NodeProto& node, OpKind kind, const graph::Tables& tables,
                      std::span<const graph::Operand> operands, AttrBlock& attrs) {
  const pb::AttributeProto* attribute = find(node, "auto_pad");
  if (!attribute || attribute->s() == "NOTSET" || attribute->s().empty()) return true;
  if (attrs.has(Attr::ceil_mode) && attrs.integer(Attr::ceil_mode) != 0) return false;  // which one counts?
  attrs.erase(Attr::pads);
  if (attribute->s() == "VALID") return true;
  const bool upper = attribute->s() == "SAME_UPPER";
  if ((!upper && attribute->s() != "SAME_LOWER") || kind == OpKind::conv_transpose || operands.empty())
    return false;
  Ints kernel;
  if (const Ints* given = ints_or_null(attrs, Attr::kernel_shape)) {
    kernel = *given;
  } else {
    const graph::TensorType& weight = tables.type(operands[operands.size() > 1 ? 1 : 0].type);
    if (kind != OpKind::conv || !weight.is_static() || weight.rank() < 3) return false;
    kernel.assign(weight.dims.begin() + 2, weight.dims.end());
  }
  return pad_same(tables.type(operands[0].type), kernel, upper, attrs);
}

/// Sizes of a Split that names none: equal parts, the last one smaller (opset 18).
bool fill_split(const pb::NodeProto& node, const graph::Tables& tables,
                std::span<const graph::Operand> operands, AttrBlock& attrs) {
  const pb::AttributeProto* count_attribute = find(node, "num_outputs");
  const bool sized = attrs.has(Attr::split) || (operands.size() > 1 && operands[1].present);
  if (sized) return count_attribute == nullptr;
  const std::int64_t parts = count_attribute ? count_attribute->i() : node.output_size();
  if (parts <= 0 || parts != node.output_size() || operands.empty()) return false;
  const graph::TensorType& x = tables.type(operands[0].type);
  std::int64_t axis = attrs.has(Attr::axis) ? attrs.integer(Attr::axis) : 0;
  if (axis < 0) axis += static_cast<std::int64_t>(x.rank());
  if (!x.ranked || axis < 0 || axis >= static_cast<std::int64_t>(x.rank())) return false;
  const graph::Dim dim = x.dims[static_cast<std::size_t>(axis)];
  if (graph::is_symbol(dim)) return false;
  const std::int64_t size = (dim + parts - 1) / parts;
  Ints sizes(static_cast<std::size_t>(parts), size);
  sizes.back() = dim - size * (parts - 1);
  if (sizes.back() < 0) return false;
  attrs.set(Attr::split, std::move(sizes));
  return true;
}

/// Before opset 13 Softmax flattened to two dims at `axis`, by default 1: the same thing only along the last
/// axis.
bool modernise_softmax(std::int64_t opset, const graph::Tables& tables,
                       std::span<const graph::Operand> operands, AttrBlock& attrs) {
  if (opset >= 13) return true;
  const std::int64_t axis = attrs.has(Attr::axis) ? attrs.integer(Attr::axis) : 1;
  if (operands.empty() || !tables.type(operands[0].type).ranked) return false;
  const auto rank = static_cast<std::int64_t>(tables.type(operands[0].type).rank());
  attrs.set(Attr::axis, axis);
  return axis == -1 || axis == rank - 1;
}

bool read_fill_value(const pb::NodeProto& node, const PayloadTable& payloads, AttrBlock& attrs) {
  const pb::AttributeProto* attribute = find(node, "value");
  if (!attribute) return true;
  if (!attribute->has_t()) return false;
  ByteStore owned;
  const TensorView view = read_tensor(attribute->t(), payloads, owned);
  if (view.type.element_count() != 1 || graph::dtype_bytes(view.type.dtype) == 0) return false;
  const auto host = graph::HostTensor::from_bytes(view.type, view.bytes);
  if (!host.integer.empty() && std::abs(host.integer[0]) > (std::int64_t{1} << 53)) return false;
  attrs.set(Attr::value, host.integer.empty() ? host.real[0] : static_cast<double>(host.integer[0]));
  attrs.set(Attr::to, static_cast<std::int64_t>(view.type.dtype));
  return true;
}

/// allowzero makes a 0 in the shape mean an empty dim; in canonical form it means a copied one. Where the
/// shape is computed no number is 0, and a symbol that is stays so where it is copied.
bool shape_is_plain(const pb::NodeProto& node, const graph::Tables& tables,
                    std::span<const graph::Operand> operands) {
  const pb::AttributeProto* attribute = find(node, "allowzero");
  if (!attribute || attribute->i() == 0) return true;
  if (operands.size() < 2 || !operands[0].present) return false;
  const graph::TensorType& x = tables.type(operands[0].type);
  const Elements shape = elements_of(tables, operands[1]);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool stays = i < x.rank() && shape[i] == graph::Element::of(x.dims[i]);
    if (shape[i].is_number() ? shape[i].value == 0 : !stays) return false;
  }
  return !shape.empty();
}

/// noop_with_empty_axes matters only where no axes are given, or where an operand may hold none.
bool reduces_something(const pb::NodeProto& node, const graph::Tables& tables,
                       std::span<const graph::Operand> operands, const AttrBlock& attrs) {
  const pb::AttributeProto* attribute = find(node, "noop_with_empty_axes");
  if (!attribute || attribute->i() == 0) return true;
  const Ints* axes = ints_or_null(attrs, Attr::axes);
  if (axes || operands.size() < 2 || !operands[1].present) return axes && !axes->empty();
  return tables.type(operands[1].type).element_count().value_or(0) > 0;
}

/// A scale of 0, or none: that of the size of a head. The filter value belongs to a mask of keys, which has
/// no canonical form.
bool read_scale(const pb::NodeProto& node, const graph::Tables& tables,
                std::span<const graph::Operand> operands, AttrBlock& attrs) {
  const pb::AttributeProto* given = find(node, "scale");
  if (given && given->type() != pb::AttributeProto::FLOAT) return false;
  float scale = given ? given->f() : 0;
  if (scale == 0) {
    if (operands.empty() || !attrs.has(Attr::num_heads)) return false;
    const auto* heads = std::get_if<std::int64_t>(attrs.find(Attr::num_heads));
    const graph::TensorType& q = tables.type(operands[0].type);
    if (!heads || *heads <= 0 || !q.ranked || q.rank() != 3 || q.dims[2] < *heads) return false;
    const std::int64_t head_size = q.dims[2] / *heads;
    scale = 1 / std::sqrt(static_cast<float>(head_size));
  }
  attrs.set(Attr::scale, static_cast<double>(scale));
  return true;
}

std::string text_of(const pb::NodeProto& node, std::string_view name, const char* fallback) {
  const pb::AttributeProto* attribute = find(node, name);
  return attribute ? attribute->s() : fallback;
}

/// Factors or sizes, by operand; nothing where they are not constant.
std::optional<std::vector<double>> numbers(const graph::Tables& tables,
                                           std::span<const graph::Operand> operands, std::size_t slot) {
  if (slot >= operands.size() || !operands[slot].present || operands[slot].value == graph::WeightId::none)
    return std::nullopt;
  constexpr std::int64_t kMostDims = 8;
  const auto count = tables.type(operands[slot].type).element_count();
  if (!count || *count > kMostDims) return std::nullopt;
  const graph::HostTensor host = graph::evaluate(tables, operands[slot].value);
  if (host.integer.empty()) return host.real;
  return std::vector<double>(host.integer.begin(), host.integer.end());
}

/// The form that repeats elements exactly: nearest, dims of one enlarged by whole factors, others kept.
bool read_resize(const pb::NodeProto& node, std::int64_t opset, const graph::Tables& tables,
                 std::span<const graph::Operand> operands, AttrBlock& attrs) {
  const std::string at = text_of(node, "coordinate_transformation_mode", "half_pixel");
  const bool exact = at == "asymmetric" || at == "half_pixel" || at == "pytorch_half_pixel";
  if (text_of(node, "mode", "nearest") != "nearest" || !exact || operands.empty()) return false;
  if (text_of(node, "keep_aspect_ratio_policy", "stretch") != "stretch") return false;
  const graph::TensorType& x = tables.type(operands[0].type);
  if (!x.ranked || x.rank() < 3) return false;
  constexpr std::int64_t kFirstWithSizes = 11;
  const auto sizes = opset < kFirstWithSizes ? std::nullopt : numbers(tables, operands, 3);
  const auto given = sizes ? sizes : numbers(tables, operands, opset < kFirstWithSizes ? 1 : 2);
  if (!given || given->size() != x.rank()) return false;
  Ints spatial;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    const double size = (*given)[i], dim = static_cast<double>(x.dims[i]);
    const bool kept = sizes ? size == dim : size == 1;
    const bool enlarged = i > 1 && dim == 1 && size >= 1 && size == std::floor(size) && size < 0x1p24;
    if ((i < 2 && !kept) || (!kept && !enlarged) || (i > 1 && x.dims[i] <= 0)) return false;
    if (i > 1) spatial.push_back(kept ? x.dims[i] : static_cast<std::int64_t>(size));
  }
  attrs.set(Attr::shape, std::move(spatial));
  return true;
}

/// The letters of an equation of two operands as numbers.
bool read_equation(const graph::Tables& tables, std::span<const graph::Operand> operands, AttrBlock& attrs) {
  const AttrValue* text = attrs.find(Attr::equation);
  if (operands.size() != 2 || !text || !std::holds_alternative<std::string>(*text)) return false;
  const graph::TensorType &a = tables.type(operands[0].type), &b = tables.type(operands[1].type);
  if (!a.ranked || !b.ranked) return false;
  auto labels = graph::einsum_labels(std::get<std::string>(*text), a.dims, b.dims);
  if (labels) attrs.set(Attr::equation, std::move(*labels));
  return labels.has_value();
}

}  // namespace

std::size_t operands_kept(OpKind kind) {
  return kind == OpKind::resize ? 1 : std::numeric_limits<std::size_t>::max();
}

std::optional<AttrValue> attribute_value(const pb::AttributeProto& attribute) {
  switch (attribute.type()) {
    case pb::AttributeProto::INT:
      return attribute.i();
    case pb::AttributeProto::FLOAT:
      return static_cast<double>(attribute.f());
    case pb::AttributeProto::STRING:
      return attribute.s();
    case pb::AttributeProto::INTS:
      return Ints(attribute.ints().begin(), attribute.ints().end());
    default:
      return std::nullopt;
  }
}

std::optional<AttrBlock> read_attributes(const pb::NodeProto& node, OpKind kind, std::int64_t opset,
                                         const graph::Tables& tables,
                                         std::span<const graph::Operand> operands,
                                         const PayloadTable& payloads) {
  auto attrs = read_plain(node, kind);
  if (!attrs) return std::nullopt;
  bool understood = true;
  switch (kind) {
    case OpKind::conv:
    case OpKind::conv_transpose:
    case OpKind::max_pool:
    case OpKind::average_pool:
      understood = resolve_auto_pad(node, kind, tables, operands, *attrs) &&
                   rounds_up_safely(opset, tables, operands, *attrs);
      break;
    case OpKind::split:
      understood = fill_split(node, tables, operands, *attrs);
      break;
    case OpKind::softmax:
    case OpKind::log_softmax:
      understood = modernise_softmax(opset, tables, operands, *attrs);
      break;
    case OpKind::constant_of_shape:
      understood = read_fill_value(node, payloads, *attrs);
      break;
    case OpKind::multi_head_attention:
      understood = read_scale(node, tables, operands, *attrs);
      break;
    case OpKind::resize:
      understood = read_resize(node, opset, tables, operands, *attrs);
      break;
    case OpKind::einsum:
      understood = read_equation(tables, operands, *attrs);
      break;
    case OpKind::lstm:
    case OpKind::gru:
      understood = is_plain_recurrence(node, kind, tables, operands);
      break;
    case OpKind::reshape:
      understood = shape_is_plain(node, tables, operands);
      break;
    case OpKind::reduce_mean:
    case OpKind::reduce_sum:
    case OpKind::reduce_max:
    case OpKind::reduce_min:
      understood = reduces_something(node, tables, operands, *attrs);
      break;
    default:
      break;
  }
  return understood ? attrs : std::nullopt;
}

}
