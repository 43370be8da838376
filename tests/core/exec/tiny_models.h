#pragma once

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/base/file.h"
#include "core/onnx/set_attributes.h"

namespace regraft::exec::testing {

using onnx::test::set_float;
using onnx::test::set_int;
using onnx::test::set_ints;
using onnx::test::set_text;

/// A folder that goes with its owner.
class TempFolder {
 public:
  std::filesystem::path operator/(const std::string& name) const { return folder_.path() / name; }

 private:
  TempDir folder_{"regraft_exec"};
};

/// Builds small ONNX models line by line. A dim written as text is a symbol.
class ModelBuilder {
 public:
  struct Axis {
    Axis(int size) : value(size) {}  // NOLINT: {2, "batch"} reads as a shape
    Axis(const char* symbol) : name(symbol) {}
    std::int64_t value = -1;
    std::string name;
  };
  using Shape = std::vector<Axis>;

  ModelBuilder() {
    model_.set_ir_version(8);
    model_.add_opset_import()->set_version(17);
    graph().set_name("tiny");
  }

  ModelBuilder& opset(int version) {
    model_.mutable_opset_import(0)->set_version(version);
    model_.set_ir_version(version > 17 ? 10 : 8);
    return *this;
  }
  ::onnx::GraphProto& graph() { return *model_.mutable_graph(); }
  ModelBuilder& opset(std::int64_t version) {
    model_.mutable_opset_import(0)->set_version(version);
    return *this;
  }

  ModelBuilder& input(const std::string& name, const Shape& shape, int dtype = ::onnx::TensorProto::FLOAT) {
    describe(*graph().add_input(), name, shape, dtype);
    return *this;
  }
  ModelBuilder& output(const std::string& name, const Shape& shape, int dtype = ::onnx::TensorProto::FLOAT) {
    describe(*graph().add_output(), name, shape, dtype);
    return *this;
  }
  ModelBuilder& sequence_input(const std::string& name, const Shape& shape,
                               int dtype = ::onnx::TensorProto::FLOAT) {
    make_sequence(input(name, shape, dtype).graph().mutable_input()->rbegin()->mutable_type());
    return *this;
  }
  ModelBuilder& sequence_output(const std::string& name, int dtype = ::onnx::TensorProto::FLOAT) {
    make_sequence(output(name, {}, dtype).graph().mutable_output()->rbegin()->mutable_type());
    output_type(-1).mutable_sequence_type()->mutable_elem_type()->mutable_tensor_type()->clear_shape();
    return *this;
  }
  /// The type of the i-th output, or of the last for -1.
  ::onnx::TypeProto& output_type(int i) {
    return *graph().mutable_output(i < 0 ? graph().output_size() - 1 : i)->mutable_type();
  }
  static void make_sequence(::onnx::TypeProto* type) {
    const ::onnx::TypeProto held = *type;
    *type->mutable_sequence_type()->mutable_elem_type() = held;
  }
  /// A map from numbers to such values.
  static void make_map(::onnx::TypeProto* type) {
    const ::onnx::TypeProto held = *type;
    type->mutable_map_type()->set_key_type(::onnx::TensorProto::INT64);
    *type->mutable_map_type()->mutable_value_type() = held;
  }
  static void make_optional(::onnx::TypeProto* type) {
    const ::onnx::TypeProto held = *type;
    *type->mutable_optional_type()->mutable_elem_type() = held;
  }
  ModelBuilder& weight(const std::string& name, const std::vector<std::int64_t>& dims,
                       const std::vector<float>& values) {
    ::onnx::TensorProto& tensor = *graph().add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(::onnx::TensorProto::FLOAT);
    for (const std::int64_t dim : dims) tensor.add_dims(dim);
    tensor.set_raw_data(values.data(), values.size() * sizeof(float));
    return *this;
  }
  ModelBuilder& integers(const std::string& name, const std::vector<std::int64_t>& values) {
    ::onnx::TensorProto& tensor = *graph().add_initializer();
    tensor.set_name(name);
    tensor.set_data_type(::onnx::TensorProto::INT64);
    tensor.add_dims(static_cast<std::int64_t>(values.size()));
    for (const std::int64_t value : values) tensor.add_int64_data(value);
    return *this;
  }
  /// Nodes of a runtime's own ops; they need their domain set.
  ModelBuilder& import_domain(const std::string& domain) {
    ::onnx::OperatorSetIdProto& import = *model_.add_opset_import();
    import.set_domain(domain);
    import.set_version(1);
    return *this;
  }
  ::onnx::NodeProto& node(const std::string& op, const std::vector<std::string>& inputs,
                          const std::vector<std::string>& outputs) {
    ::onnx::NodeProto& node = *graph().add_node();
    node.set_op_type(op);
    for (const std::string& input : inputs) node.add_input(input);
    for (const std::string& output : outputs) node.add_output(output);
    return node;
  }
  /// Gives a node the graph of another builder as a body.
  static void set_body(::onnx::NodeProto& node, const std::string& name, ModelBuilder body) {
    onnx::test::add_attribute(node, name, ::onnx::AttributeProto::GRAPH).mutable_g()->Swap(&body.graph());
  }

  std::string bytes() const { return model_.SerializeAsString(); }
  std::filesystem::path write(const std::filesystem::path& path) const {
    std::ofstream(path, std::ios::binary) << bytes();
    return path;
  }

 private:
  static void describe(::onnx::ValueInfoProto& info, const std::string& name, const Shape& shape, int dtype) {
    info.set_name(name);
    auto& tensor = *info.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(dtype);
    tensor.mutable_shape();
    for (const Axis& axis : shape) {
      auto& dim = *tensor.mutable_shape()->add_dim();
      if (axis.value >= 0) {
        dim.set_dim_value(axis.value);
      } else if (!axis.name.empty()) {
        dim.set_dim_param(axis.name);
      }
    }
  }

  ::onnx::ModelProto model_;
};

/// y = scale * x + shift on x[batch, 3], y[batch, 3].
inline ModelBuilder affine(float scale, float shift) {
  ModelBuilder model;
  model.input("x", {"batch", 3}).output("y", {"batch", 3});
  model.weight("scale", {1}, {scale}).weight("shift", {1}, {shift});
  model.node("Mul", {"x", "scale"}, {"m"});
  model.node("Add", {"m", "shift"}, {"y"});
  return model;
}

}
