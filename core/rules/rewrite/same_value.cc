#include "core/rules/rewrite/same_value.h"

#include <algorithm>
#include <cmath>

#include "core/graph/constants.h"
#include "core/graph/evaluate.h"

namespace regraft::rules {
namespace {

using graph::Attr;
using graph::AttrBlock;
using graph::DType;
using graph::Graph;
using graph::Node;
using graph::OpKind;
using graph::Value;

constexpr std::size_t kMostElements = 4096;  // of a constant that is looked at

bool all_are(const AttrBlock& attrs, Attr attr, std::int64_t number) {
  return attrs.has(attr) &&
         std::ranges::all_of(attrs.ints(attr), [&](std::int64_t each) { return each == number; });
}

/// A Transpose that keeps the order of all dims, or of all but those of one.
bool keeps_order(const graph::TensorType& in, bool same_type, const graph::Ints& perm) {
  if (std::is_sorted(perm.begin(), perm.end())) return true;
  if (!same_type || !in.is_static()) return false;
  graph::Ints moved = perm;
  std::erase_if(moved, [&](std::int64_t axis) { return in.dims[static_cast<std::size_t>(axis)] == 1; });
  return std::is_sorted(moved.begin(), moved.end());
}

bool hands_on(const Graph& graph, const Node& node) {
  const graph::TensorType& in = graph.type(node.inputs[0]);
  const bool same_type = graph.type_id(node.inputs[0]) == node.outputs[0];
  const AttrBlock& attrs = graph.tables().attrs(node.attrs);
  switch (node.kind) {
    case OpKind::identity:
      return true;
    case OpKind::cast:
    case OpKind::cast_like:
      return same_type && in.dtype != DType::undefined;
    case OpKind::reshape:
    case OpKind::flatten:
    case OpKind::expand:
    case OpKind::squeeze:
    case OpKind::unsqueeze:
    case OpKind::resize:
      return same_type && in.ranked;
    case OpKind::slice:
      return same_type && in.ranked && all_are(attrs, Attr::steps, 1);
    case OpKind::tile:
      return all_are(attrs, Attr::repeats, 1);
    case OpKind::pad:
      return all_are(attrs, Attr::pads, 0);
    case OpKind::transpose:
      return keeps_order(in, same_type, attrs.ints(Attr::perm));
    case OpKind::concat:
    case OpKind::sum:
    case OpKind::max:
    case OpKind::min:
      return node.inputs.size() == 1;
    default:
      return false;
  }
}

/// Whether all of a constant are zeros of this sign.
bool zeros(const graph::Tables& tables, graph::WeightId weight, bool negative) {
  const graph::HostTensor tensor = graph::evaluate(tables, weight);
  return std::ranges::all_of(tensor.real, [&](double x) { return x == 0 && std::signbit(x) == negative; });
}

/// The number that leaves the other operand of an operation as it is, to the right of it.
std::optional<double> neutral_of(OpKind kind, bool floats) {
  switch (kind) {
    case OpKind::add:
    case OpKind::sub:
    case OpKind::logical_or:
      return 0;
    case OpKind::mul:
    case OpKind::div:
    case OpKind::logical_and:
      return 1;
    case OpKind::pow:  // runtimes compute powers of integers in doubles
      return floats ? std::optional(1.0) : std::nullopt;
    default:
      return std::nullopt;
  }
}

/// A constant of that number. Of floats there is one: several may be the scale of a norm in parts, which
/// runtimes fuse only with one.
bool is_neutral(const Graph& graph, OpKind kind, Value value, bool as_runtimes) {
  const graph::WeightId weight = graph.weight_of(value);
  if (weight == graph::WeightId::none) return false;
  const bool floats = graph::is_float(graph.type(value).dtype);
  if ((floats || as_runtimes) && graph.type(value).element_count() != 1) return false;
  if (as_runtimes && (kind == OpKind::pow || kind == OpKind::logical_and || kind == OpKind::logical_or))
    return false;
  const std::optional<double> neutral = neutral_of(kind, floats);
  const graph::Tables& tables = graph.tables();
  if (!neutral || graph::scalar_value(tables, weight, kMostElements) != neutral) return false;
  return as_runtimes || *neutral != 0 || !floats || zeros(tables, weight, kind == OpKind::add);
}

/// Whether the output has the shape of this operand. Types without a rank may be equal though shapes are not.
bool keeps_type(const Graph& graph, const Node& node, Value value) {
  return graph.type_id(value) == node.outputs[0] && graph.type(value).ranked;
}

std::optional<Value> beside_neutral(const Graph& graph, const Node& node, bool as_runtimes) {
  const auto kept = [&](std::size_t operand) {
    const Value value = node.inputs[operand], other = node.inputs[1 - operand];
    if (!is_neutral(graph, node.kind, other, as_runtimes)) return false;
    const bool scalar = graph.type(other).ranked && graph.type(other).rank() == 0;
    return keeps_type(graph, node, value) || (scalar && graph.type_id(value) == node.outputs[0]);
  };
  if (kept(0)) return node.inputs[0];
  if (graph::op_info(node.kind).is(graph::kCommutative) && kept(1)) return node.inputs[1];
  return std::nullopt;
}

std::optional<Value> chosen(const Graph& graph, const Node& node) {
  const graph::WeightId condition = graph.weight_of(node.inputs[0]);
  if (condition == graph::WeightId::none) return std::nullopt;
  const std::optional<double> number = graph::scalar_value(graph.tables(), condition, kMostElements);
  if (!number) return std::nullopt;
  const Value value = node.inputs[*number != 0 ? 1 : 2];
  return keeps_type(graph, node, value) ? std::optional(value) : std::nullopt;
}

enum class Twice : std::uint8_t { other, back, once };  // what it is to do an operation twice

Twice done_twice(OpKind kind) {
  switch (kind) {
    case OpKind::neg:
    case OpKind::logical_not:
      return Twice::back;
    case OpKind::relu:
    case OpKind::abs:
    case OpKind::floor:
    case OpKind::ceil:
    case OpKind::round:
    case OpKind::sign:
    case OpKind::clip:
      return Twice::once;
    default:
      return Twice::other;
  }
}

std::optional<Value> of_pair(const Graph& graph, const Node& node) {
  const Twice twice = done_twice(node.kind);
  const Node& inner = graph.node(node.inputs[0].node);
  if (twice == Twice::other || inner.kind != node.kind || inner.attrs != node.attrs ||
      !std::ranges::equal(std::span<const Value>(inner.inputs).subspan(1),
                          std::span<const Value>(node.inputs).subspan(1)))
    return std::nullopt;
  return twice == Twice::back ? inner.inputs[0] : node.inputs[0];
}

/// Bits of a number's magnitude that a type holds exactly, and bits of its exponent.
struct NumberFormat {
  int digits = 0, exponent = 0;
  bool sign = false;
};

std::optional<NumberFormat> format_of(DType type) {
  switch (type) {
    case DType::float16:
      return NumberFormat{11, 5, true};
    case DType::bfloat16:
      return NumberFormat{8, 8, true};
    case DType::float32:
      return NumberFormat{24, 8, true};
    case DType::float64:
      return NumberFormat{53, 11, true};
    case DType::boolean:
      return NumberFormat{1, 0, false};
    default:
      if (!graph::is_integer(type)) return std::nullopt;
      const bool sign =
          type == DType::int8 || type == DType::int16 || type == DType::int32 || type == DType::int64;
      return NumberFormat{static_cast<int>(8 * graph::dtype_bytes(type)) - (sign ? 1 : 0), 0, sign};
  }
}

}  // namespace

std::optional<Value> same_value(const Graph& graph, graph::NodeId id, bool as_runtimes) {
  const Node& node = graph.node(id);
  if (node.inputs.empty() || !node.inputs[0].present() || node.outputs.size() != 1) return std::nullopt;
  if (hands_on(graph, node)) return node.inputs[0];
  if (!as_runtimes) {
    if (const std::optional<Value> value = of_pair(graph, node)) return value;
    if (node.kind == OpKind::where) return chosen(graph, node);
  }
  return node.inputs.size() == 2 ? beside_neutral(graph, node, as_runtimes) : std::nullopt;
}

bool holds_all(DType type, DType of) {
  const std::optional<NumberFormat> here = format_of(type), there = format_of(of);
  if (!here || !there || (there->sign && !here->sign)) return false;
  return here->digits >= there->digits && (graph::is_float(type) || !graph::is_float(of)) &&
         (here->exponent >= there->exponent || there->exponent == 0);
}

}
