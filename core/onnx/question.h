#pragma once

// Internal to core/onnx: what is asked of an opaque node's inputs to type its outputs, and what is answered.

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/evaluate.h"
#include "core/graph/op.h"
#include "core/onnx/shape_elements.h"

namespace regraft::onnx {

/// A node with the types of its inputs; absent ones are undefined and unranked.
class Question {
 public:
  Question(graph::Tables& tables, const ::onnx::NodeProto& node, std::span<const graph::Operand> operands)
      : tables_(tables), node_(node), operands_(operands) {}

  const ::onnx::NodeProto& node() const { return node_; }
  graph::TensorType input(std::size_t i) const {
    return i < operands_.size() && operands_[i].present ? tables_.type(operands_[i].type)
                                                        : graph::TensorType{};
  }
  std::size_t outputs() const { return static_cast<std::size_t>(node_.output_size()); }
  std::size_t inputs() const { return operands_.size(); }
  graph::Tables& tables() const { return tables_; }
  graph::Dim fresh() const { return graph::symbol_dim(tables_.fresh_symbol()); }

  /// The elements of a small constant of real numbers.
  std::vector<double> reals(std::size_t i) const {
    constexpr std::int64_t kMost = 16;
    if (i >= operands_.size() || operands_[i].value == graph::WeightId::none) return {};
    const auto count = tables_.type(operands_[i].type).element_count();
    return count && *count <= kMost ? graph::evaluate(tables_, operands_[i].value).real
                                    : std::vector<double>{};
  }

  /// What an op of ours would give of two inputs, whatever their dtypes, by the node's attributes; of no
  /// dtype.
  graph::TensorType as_if(graph::OpKind kind, std::size_t a, std::size_t b) const {
    if (a >= operands_.size() || b >= operands_.size()) return {};
    if (has("auto_pad") && !has_text("auto_pad", "NOTSET")) return {};
    graph::AttrBlock attrs;
    for (const ::onnx::AttributeProto& attribute : node_.attribute()) {
      const auto attr = graph::attr_from_name(attribute.name());
      if (attr && attribute.type() == ::onnx::AttributeProto::INTS)
        attrs.set(*attr, graph::Ints(attribute.ints().begin(), attribute.ints().end()));
      else if (attr && attribute.type() == ::onnx::AttributeProto::INT)
        attrs.set(*attr, attribute.i());
    }
    try {
      InlineVector<graph::Operand, 4> operands{{tables_.intern(untyped(a))}, {tables_.intern(untyped(b))}};
      const graph::AttrBlock canonical = graph::canonical_attrs(tables_, kind, std::move(attrs), operands);
      return tables_.type(graph::infer_types(tables_, kind, canonical, operands)[0]);
    } catch (const graph::GraphError&) {
      return {};
    }
  }

  graph::TensorType untyped(std::size_t i) const {
    graph::TensorType type = input(i);
    type.dtype = graph::DType::undefined;
    return type;
  }

  /// All dims unknown, the rank kept.
  graph::TensorType same_rank(std::size_t i) const {
    graph::TensorType type = input(i);
    for (graph::Dim& dim : type.dims) dim = fresh();
    return type;
  }

  std::int64_t integer(std::string_view name, std::int64_t fallback) const {
    for (const ::onnx::AttributeProto& attribute : node_.attribute())
      if (attribute.name() == name && attribute.type() == ::onnx::AttributeProto::INT) return attribute.i();
    return fallback;
  }

  Elements integers(std::string_view name) const {
    Elements values;
    for (const ::onnx::AttributeProto& attribute : node_.attribute())
      if (attribute.name() == name)
        for (const std::int64_t value : attribute.ints()) values.push_back(graph::Element::number(value));
    return values;
  }

  std::string text(std::string_view name) const {
    for (const ::onnx::AttributeProto& attribute : node_.attribute())
      if (attribute.name() == name) return attribute.s();
    return {};
  }

  bool has(std::string_view name) const {
    return std::ranges::any_of(node_.attribute(),
                               [&](const auto& attribute) { return attribute.name() == name; });
  }

  bool has_text(std::string_view name, std::string_view text) const {
    return std::any_of(node_.attribute().begin(), node_.attribute().end(), [&](const auto& attribute) {
      return attribute.name() == name && attribute.s() == text;
    });
  }

  /// The dtype that an attribute names, or the fallback.
  graph::DType dtype(std::string_view name, graph::DType fallback) const {
    const std::int64_t given = integer(name, static_cast<std::int64_t>(fallback));
    return given > 0 && given < 256 ? static_cast<graph::DType>(given) : fallback;
  }

  /// The `axis` attribute within the rank of input 0, or nothing.
  std::optional<std::size_t> axis(std::int64_t fallback) const {
    const auto rank = static_cast<std::int64_t>(input(0).rank());
    std::int64_t at = integer("axis", fallback);
    if (at < 0) at += rank;
    return input(0).ranked && at >= 0 && at < rank ? std::optional(static_cast<std::size_t>(at))
                                                   : std::nullopt;
  }

  /// What is known of the elements of an input of sizes.
  Elements elements(std::size_t i) const {
    return i < operands_.size() ? elements_of(tables_, operands_[i]) : Elements{};
  }

 private:
  graph::Tables& tables_;
  const ::onnx::NodeProto& node_;
  std::span<const graph::Operand> operands_;
};

using Answer = std::vector<graph::TensorType>;  // the first outputs; the others are unknown

inline graph::TensorType of_dtype(graph::DType dtype, graph::TensorType type) {
  type.dtype = dtype;
  return type;
}

inline graph::TensorType unranked(graph::DType dtype) {
  return {dtype, false, {}};
}

/// All dims of all outputs unknown, the rank kept.
inline Answer same_rank(const Question& q) {
  return Answer(q.outputs(), q.same_rank(0));
}

}
