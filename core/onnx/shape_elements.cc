#include "core/onnx/shape_elements.h"

#include <algorithm>

#include "core/graph/constants.h"
#include "core/graph/derived_dims.h"
#include "core/graph/taken_elements.h"

namespace regraft::onnx {
namespace {

using graph::Dim;
using graph::Element;
using graph::OpKind;
using graph::TensorType;

constexpr std::size_t kMost = 64;  // elements: shapes have few

Element truth(bool value) {
  return Element::number(value ? 1 : 0);
}

/// What a sum, a difference or a product of numbers is, where it has a value.
Element computed(OpKind kind, std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  const bool overflows = kind == OpKind::add   ? __builtin_add_overflow(a, b, &out)
                         : kind == OpKind::sub ? __builtin_sub_overflow(a, b, &out)
                                               : __builtin_mul_overflow(a, b, &out);
  return overflows ? Element{} : Element::number(out);
}

/// What an operation on dims gives. Throws GraphError where it does not fit 64 bits.
Element derived(graph::Tables& tables, OpKind kind, Dim a, Dim b) {
  const graph::OpInfo& op = graph::op_info(kind);
  if (kind == OpKind::add) return Element::of(graph::add_dims(tables, op, a, b));
  if (kind == OpKind::mul) return Element::of(graph::product_dim(tables, graph::Dims{a, b}));
  if (b == 0) return {};
  if (!graph::is_symbol(a) && !graph::is_symbol(b)) return Element::number(a / b);
  return Element::of(graph::quotient_dim(tables, op, graph::Dims{a}, graph::Dims{b}));
}

/// What an operation on sizes gives. Differences of symbols are not followed: they might be no size.
Element combined(graph::Tables& tables, OpKind kind, Element a, Element b) {
  if (!a.known() || !b.known()) return {};
  const bool numbers = a.is_number() && b.is_number(), dims = a.is_dim() && b.is_dim();
  if (kind == OpKind::equal) {
    if (numbers || a == b) return truth(a == b);
    return dims ? Element{} : truth(false);  // a size is not negative
  }
  if (numbers && kind != OpKind::div) return computed(kind, a.value, b.value);
  if (kind == OpKind::sub) return a == b ? Element::number(0) : b == Element::number(0) ? a : Element{};
  try {
    return dims ? derived(tables, kind, a.value, b.value) : Element{};
  } catch (const graph::GraphError&) {
    return {};
  }
}

Elements pairwise(graph::Tables& tables, OpKind kind, const Elements& a, const Elements& b) {
  if (a.empty() || b.empty() || (a.size() != b.size() && a.size() != 1 && b.size() != 1)) return {};
  Elements out;
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i)
    out.push_back(combined(tables, kind, a[a.size() == 1 ? 0 : i], b[b.size() == 1 ? 0 : i]));
  return out;
}

Elements chosen(const Elements& condition, const Elements& yes, const Elements& no) {
  const std::size_t count = std::max({condition.size(), yes.size(), no.size()});
  Elements out;
  for (std::size_t i = 0; i < count; ++i) {
    const auto at = [&](const Elements& list) {
      return list.size() == 1 ? list[0] : i < list.size() ? list[i] : Element{};
    };
    const Element which = at(condition);
    out.push_back(!which.is_number() ? Element{} : which.value != 0 ? at(yes) : at(no));
  }
  return out;
}

Elements of_dims(std::span<const Dim> dims) {
  Elements out;
  for (const Dim dim : dims) out.push_back(Element::of(dim));
  return out;
}

Elements product_of(graph::Tables& tables, const Elements& elements) {
  Element product = Element::number(1);
  for (const Element& element : elements) product = combined(tables, OpKind::mul, product, element);
  return {product};
}

bool holds_sizes(const TensorType& type) {
  return type.ranked && type.rank() <= 1 &&
         (type.dtype == graph::DType::int64 || type.dtype == graph::DType::int32 ||
          type.dtype == graph::DType::boolean);
}

}  // namespace

std::optional<graph::Dims> part_of_shape(const ::onnx::NodeProto& node, const graph::TensorType& type) {
  if (node.op_type() != "Shape" || !type.ranked) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(type.rank());
  std::int64_t start = 0, end = rank;
  for (const ::onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.name() == "start") start = attribute.i();
    if (attribute.name() == "end") end = attribute.i();
  }
  graph::Dims dims;
  for (const std::int64_t at : graph::slice_places(rank, start, end))
    dims.push_back(type.dims[static_cast<std::size_t>(at)]);
  return dims;
}

Elements elements_of(const graph::Tables& tables, const graph::Operand& operand) {
  if (!operand.present) return {};
  if (operand.value == graph::WeightId::none)
    return Elements(operand.elements.begin(), operand.elements.end());
  const auto values = graph::integer_values(tables, operand.value, kMost);
  Elements out;
  if (values)
    for (const std::int64_t value : *values) out.push_back(Element::number(value));
  return out;
}

Elements computed_elements(graph::Tables& tables, OpKind kind, const graph::AttrBlock& attrs,
                           std::span<const graph::Operand> operands, graph::TypeId type) {
  const TensorType out = tables.type(type);
  if (!holds_sizes(out)) return {};
  const auto operand = [&](std::size_t i) {
    return i < operands.size() ? elements_of(tables, operands[i]) : Elements{};
  };
  switch (kind) {
    case OpKind::shape: {
      const TensorType& x = tables.type(operands[0].type);
      return x.ranked && x.rank() <= kMost ? of_dims(x.dims) : Elements{};
    }
    case OpKind::gather:
    case OpKind::slice:
      if (tables.type(operands[0].type).rank() != 1) return {};
      return graph::taken_elements(kind, attrs, operand(0), operand(1));
    case OpKind::concat: {
      Elements joined;
      for (std::size_t i = 0; i < operands.size(); ++i) {
        const TensorType& part = tables.type(operands[i].type);
        if (!part.is_static() || part.rank() != 1 ||
            joined.size() + static_cast<std::size_t>(part.dims[0]) > kMost)
          return {};
        Elements next = operand(i);
        next.resize(static_cast<std::size_t>(part.dims[0]));
        joined.insert(joined.end(), next.begin(), next.end());
      }
      return joined;
    }
    case OpKind::cast:
    case OpKind::cast_like:
      if (out.dtype == graph::DType::boolean) return {};
      [[fallthrough]];
    case OpKind::identity:
    case OpKind::reshape:
    case OpKind::flatten:
    case OpKind::squeeze:
    case OpKind::unsqueeze:
      return holds_sizes({tables.type(operands[0].type).dtype, true, {}}) ? operand(0) : Elements{};
    case OpKind::where:
      return chosen(operand(0), operand(1), operand(2));
    case OpKind::add:
    case OpKind::sub:
    case OpKind::mul:
    case OpKind::div:
    case OpKind::equal:
      return pairwise(tables, kind, operand(0), operand(1));
    default:
      return {};
  }
}

Elements opaque_elements(graph::Tables& tables, const ::onnx::NodeProto& node,
                         std::span<const graph::Operand> operands) {
  if (operands.empty() || !operands[0].present) return {};
  const TensorType type = tables.type(operands[0].type);
  if (const auto dims = part_of_shape(node, type)) return of_dims(*dims);
  if (node.op_type() == "Size" && type.ranked) return product_of(tables, of_dims(type.dims));
  if (node.op_type() == "ReduceProd" && holds_sizes(type)) {
    const Elements factors = elements_of(tables, operands[0]);
    return factors.empty() ? Elements{} : product_of(tables, factors);
  }
  return {};
}

}
