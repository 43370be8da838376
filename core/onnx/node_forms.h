#pragma once

// Internal to core/onnx: nodes made by rewrites, written in the form that an opset has.

#include <onnx/onnx_pb.h>

#include <string>

#include "core/graph/graph.h"

namespace regraft::onnx {

/// Makes (or finds) an initializer and returns its name; gives a tensor inside of a node its contents.
class ConstantMaker {
 public:
  virtual ~ConstantMaker() = default;
  virtual std::string integers(std::span<const std::int64_t> values) = 0;
  virtual std::string scalar(graph::DType dtype, double value) = 0;
  /// A vector of float32, perhaps of no elements.
  virtual std::string reals(std::span<const float> values) = 0;
  virtual void set_contents(::onnx::TensorProto& tensor, std::span<const std::byte> bytes) = 0;
};

/// Op type, attributes and inputs of a node in canonical form. `inputs` are the names of its graph inputs,
/// empty for absent ones. Operands that are attributes in canonical form are added to them as the opset
/// wants. Throws OnnxError when the opset has no such form.
void write_node(const graph::Graph& graph, graph::NodeId id, std::int64_t opset,
                std::vector<std::string> inputs, ConstantMaker& constants, ::onnx::NodeProto& out);

}
