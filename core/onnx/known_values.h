#pragma once

// Internal to core/onnx: values that follow from constants and shapes, found while the graph is built.

#include <onnx/onnx_pb.h>

#include <unordered_map>
#include <vector>

#include "core/graph/graph.h"
#include "core/onnx/known_value.h"
#include "core/onnx/shape_elements.h"

namespace regraft::onnx {

class KnownValues {
 public:
  explicit KnownValues(graph::Tables& tables) : tables_(tables) {}

  /// The constant that a computed value equals, or WeightId::none.
  graph::WeightId find(graph::Value value) const;
  /// What is known of the elements of a value that is no constant; lives as long as this.
  std::span<const graph::Element> elements(graph::Value value) const;

  /// Looks at a node just added; `operands` carry the known values of its inputs, in the form that `attrs`
  /// leaves them.
  void learn(const graph::Graph& graph, graph::NodeId id, graph::OpKind kind, const graph::AttrBlock& attrs,
             std::span<const graph::Operand> operands);

  /// What an opaque node of the default domain gives in every run, or WeightId::none: it takes integers in
  /// reverse, as exporters do with pads.
  graph::WeightId value_of(const ::onnx::NodeProto& node, std::span<const graph::Operand> operands) const;
  /// These are the elements of a value; where all are numbers it is a constant.
  void note(graph::Value value, graph::TypeId type, Elements elements);
  /// A value is this constant.
  void note(graph::Value value, graph::WeightId weight);

  std::vector<KnownValue> take();

 private:
  void fold(const graph::Graph& graph, graph::NodeId id, graph::OpKind kind, const graph::AttrBlock& attrs,
            std::span<const graph::Operand> operands);
  bool fold_small(const graph::Graph& graph, graph::NodeId id, const graph::AttrBlock& attrs,
                  std::span<const graph::WeightId> args);
  void fold_large(const graph::Graph& graph, graph::NodeId id, const graph::AttrBlock& attrs,
                  std::span<const graph::WeightId> args);

  graph::Tables& tables_;
  std::unordered_map<std::uint64_t, graph::WeightId> by_value_;
  std::unordered_map<std::uint64_t, Elements> elements_;
  std::vector<KnownValue> found_;
};

}
