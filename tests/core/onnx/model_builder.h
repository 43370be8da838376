#pragma once

// Small ONNX models for tests, made with the protobuf messages themselves.

#include <onnx/onnx_pb.h>

#include <string>
#include <vector>

#include "core/onnx/import.h"
#include "core/onnx/set_attributes.h"

namespace regraft::onnx::test {

namespace pb = ::onnx;
using Shape = std::vector<std::string>;  // "3" is a number, "batch" a symbol

inline void set_type(pb::TypeProto& type, int dtype, const Shape& shape) {
  type.mutable_tensor_type()->set_elem_type(dtype);
  auto* dims = type.mutable_tensor_type()->mutable_shape();
  for (const std::string& dim : shape) {
    const bool number = !dim.empty() && dim.find_first_not_of("0123456789") == std::string::npos;
    if (number)
      dims->add_dim()->set_dim_value(std::stoll(dim));
    else
      dims->add_dim()->set_dim_param(dim);
  }
}

/// A graph attribute of a node.
inline pb::GraphProto& body(pb::NodeProto& node, const std::string& name) {
  pb::GraphProto& graph = *add_attribute(node, name, pb::AttributeProto::GRAPH).mutable_g();
  graph.set_name(name);
  return graph;
}

inline pb::NodeProto& add_inner(pb::GraphProto& graph, const std::string& op,
                                const std::vector<std::string>& inputs, const std::string& output) {
  auto& node = *graph.add_node();
  node.set_op_type(op);
  for (const std::string& input : inputs) node.add_input(input);
  node.add_output(output);
  return node;
}

class ModelBuilder {
 public:
  explicit ModelBuilder(std::int64_t opset = 17, std::int64_t ir = 8) {
    model.set_ir_version(ir);
    auto* import = model.add_opset_import();
    import->set_domain("");
    import->set_version(opset);
    model.mutable_graph()->set_name("test");
  }

  ModelBuilder& input(const std::string& name, const Shape& shape, int dtype = pb::TensorProto::FLOAT) {
    auto* info = model.mutable_graph()->add_input();
    info->set_name(name);
    set_type(*info->mutable_type(), dtype, shape);
    return *this;
  }

  ModelBuilder& output(const std::string& name, const Shape& shape, int dtype = pb::TensorProto::FLOAT) {
    auto* info = model.mutable_graph()->add_output();
    info->set_name(name);
    set_type(*info->mutable_type(), dtype, shape);
    return *this;
  }

  /// A node whose outputs are named; attributes are added to the reference.
  pb::NodeProto& node(const std::string& op, const std::vector<std::string>& inputs,
                      const std::vector<std::string>& outputs) {
    auto* node = model.mutable_graph()->add_node();
    node->set_op_type(op);
    node->set_name("n_" + (outputs.empty() ? op : outputs[0]));
    for (const auto& name : inputs) node->add_input(name);
    for (const auto& name : outputs) node->add_output(name);
    return *node;
  }

  template <typename T>
  pb::TensorProto& initializer(const std::string& name, const std::vector<std::int64_t>& dims,
                               const std::vector<T>& values, int dtype) {
    auto* tensor = model.mutable_graph()->add_initializer();
    fill_tensor(*tensor, name, dims, values, dtype);
    return *tensor;
  }

  ModelBuilder& floats(const std::string& name, const std::vector<std::int64_t>& dims, float start = 0.5f) {
    std::int64_t count = 1;
    for (const auto dim : dims) count *= dim;
    std::vector<float> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = start + 0.25f * static_cast<float>(i % 17) - 0.01f * static_cast<float>(i % 5);
    initializer(name, dims, values, pb::TensorProto::FLOAT);
    return *this;
  }

  ModelBuilder& ints(const std::string& name, const std::vector<std::int64_t>& values) {
    initializer(name, {static_cast<std::int64_t>(values.size())}, values, pb::TensorProto::INT64);
    return *this;
  }

  template <typename T>
  static void fill_tensor(pb::TensorProto& tensor, const std::string& name,
                          const std::vector<std::int64_t>& dims, const std::vector<T>& values, int dtype) {
    tensor.set_name(name);
    tensor.set_data_type(dtype);
    for (const auto dim : dims) tensor.add_dims(dim);
    tensor.set_raw_data(values.data(), values.size() * sizeof(T));
  }

  std::string bytes() const { return model.SerializeAsString(); }

  pb::ModelProto model;
};

/// The model's bytes must outlive what is imported from them.
inline ImportedModel import_text(const std::string& bytes) {
  return import_model_bytes(std::as_bytes(std::span(bytes)), ".");
}

struct KeptBytes {
  std::string bytes;
};
/// A model that was built, imported, and its bytes.
struct Built : KeptBytes, ImportedModel {
  explicit Built(const ModelBuilder& builder)
      : KeptBytes{builder.bytes()}, ImportedModel(import_text(bytes)) {}
};

/// The node of a graph that has the given output name.
inline graph::NodeId find_node(const ImportedModel& model, const std::string& output, std::size_t at = 0) {
  const graph::Graph& graph = model.graph(at);
  for (graph::NodeId id = 0; id < graph.id_bound(); ++id)
    if (graph.alive(id) && graph.node(id).kind != graph::OpKind::weight)
      for (std::uint32_t k = 0; k < graph.node(id).outputs.size(); ++k)
        if (model.value_name({id, k}, at) == output) return id;
  return graph::kNoNode;
}

/// The type of the value of this name: "float32[2, n]".
inline std::string output_type(const ImportedModel& model, const std::string& output) {
  const graph::NodeId id = find_node(model, output);
  for (std::uint32_t k = 0; k < model.graph().node(id).outputs.size(); ++k)
    if (model.value_name({id, k}) == output) return model.tables().describe(model.graph().type_id({id, k}));
  return "";
}

}
