#pragma once

// A model under construction: values with what is known of them, nodes, constants in the many forms that
// ONNX has for them.

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "core/base/rng.h"
#include "core/exec/runtime/tensor.h"
#include "core/onnx/set_attributes.h"

namespace regraft::exec::rewrite_fuzzing {

namespace pb = ::onnx;
using Dims = std::vector<std::int64_t>;

/// The symbolic dim of a sketch ("N"): only ever the first dim of a value.
inline constexpr std::int64_t kSymbol = -1;
/// Values of larger scale are not multiplied or exponentiated any more.
inline constexpr double kLargeScale = 30;

/// What the generator knows of a value.
struct Val {
  std::string name;
  DType dtype = DType::float32;
  Dims dims;
  double scale = 1;       // typical magnitude
  bool exact = false;     // rounding cannot have touched it: discontinuous ops may follow
  bool positive = false;  // at least 0.1

  std::size_t rank() const { return dims.size(); }
  bool fixed() const { return std::find(dims.begin(), dims.end(), kSymbol) == dims.end(); }
  std::int64_t count() const {
    std::int64_t product = 1;
    for (const std::int64_t dim : dims) product *= std::abs(dim);
    return product;
  }
};

/// A node being written; attributes chain.
class NodeSketch {
 public:
  explicit NodeSketch(pb::NodeProto& node) : node_(&node) {}
  NodeSketch& integer(const char* name, std::int64_t value) {
    onnx::test::set_int(*node_, name, value);
    return *this;
  }
  NodeSketch& real(const char* name, double value) {
    onnx::test::set_float(*node_, name, static_cast<float>(value));
    return *this;
  }
  NodeSketch& text(const char* name, const std::string& value) {
    onnx::test::set_text(*node_, name, value);
    return *this;
  }
  NodeSketch& ints(const char* name, const Dims& values) {
    onnx::test::set_ints(*node_, name, values);
    return *this;
  }
  NodeSketch& graph(const char* name, pb::GraphProto graph) {
    *onnx::test::add_attribute(*node_, name, pb::AttributeProto::GRAPH).mutable_g() = std::move(graph);
    return *this;
  }
  pb::NodeProto& proto() { return *node_; }

 private:
  pb::NodeProto* node_;
};

/// A model that grows; all randomness comes from one stream.
class Sketch {
 public:
  Sketch(std::int64_t opset, DType real_type, Rng& rng) : opset_(opset), real_(real_type), rng_(rng) {
    model_.set_ir_version(ir_for(opset));
    model_.mutable_graph()->set_name("walk");
    auto& import = *model_.add_opset_import();
    import.set_version(opset);
  }

  std::int64_t opset() const { return opset_; }
  DType real() const { return real_; }
  Rng& rng() { return rng_; }
  pb::ModelProto& model() { return model_; }
  pb::GraphProto& graph() { return *model_.mutable_graph(); }
  std::vector<Val>& pool() { return pool_; }

  // --- chance
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(high - low + 1)));
  }
  bool chance(int percent) { return between(1, 100) <= percent; }
  template <typename T>
  const T& one_of(const std::vector<T>& items) {
    return items[rng_.below(items.size())];
  }

  // --- values
  /// A value of the pool that passes, the latest ones more often; nothing when none does.
  template <typename Test>
  std::optional<Val> pick(const Test& test) {
    std::vector<Val> fitting;
    for (const Val& value : pool_)
      if (test(value)) fitting.push_back(value);
    if (fitting.empty()) return std::nullopt;
    const std::size_t recent = std::min<std::size_t>(fitting.size(), 3);
    if (chance(60)) return fitting[fitting.size() - 1 - rng_.below(recent)];
    return fitting[rng_.below(fitting.size())];
  }
  std::optional<Val> pick_real(std::size_t low_rank = 0, std::size_t high_rank = 9) {
    return pick(
        [&](const Val& v) { return v.dtype == real_ && v.rank() >= low_rank && v.rank() <= high_rank; });
  }

  Val input(const Dims& dims, DType dtype) {
    Val value{fresh("in"), dtype, dims, 1, true, false};
    describe(*graph().add_input(), value, true);
    pool_.push_back(value);
    return value;
  }

  /// A node with one output.
  NodeSketch node(const std::string& op, const std::vector<std::string>& inputs, Val& out) {
    out.name = fresh(op);
    return several(op, inputs, {out.name});
  }
  NodeSketch several(const std::string& op, const std::vector<std::string>& inputs,
                     const std::vector<std::string>& outputs) {
    pb::NodeProto& proto = *graph().add_node();
    proto.set_op_type(op);
    if (chance(80)) proto.set_name("node_" + std::to_string(graph().node_size()));
    for (const std::string& input : inputs) proto.add_input(input);
    while (proto.input_size() > 0 && proto.input(proto.input_size() - 1).empty())
      proto.mutable_input()->RemoveLast();
    for (const std::string& output : outputs) proto.add_output(output);
    return NodeSketch(proto);
  }
  void keep(Val value) {
    if (value.scale > kLargeScale) value = calmed(value);
    pool_.push_back(std::move(value));
  }
  std::string fresh(const std::string& stem) { return stem + "_" + std::to_string(next_++); }

  // --- constants
  /// A constant of the model's real type; shares one of the same dims a quarter of the time.
  std::string weight(const Dims& dims, double scale = 1) {
    return constant(
        dims, [&] { return scale * rng_.normal(); }, scale);
  }
  std::string positive_weight(const Dims& dims) {
    return constant(
        dims, [&] { return 0.5 + rng_.uniform(); }, 0);
  }
  std::string filled(const Dims& dims, double value) {
    return constant(
        dims, [&] { return value; }, -1);
  }
  std::string scalar(double value) { return filled(chance(70) ? Dims{} : Dims{1}, value); }
  /// Integers in one of the forms that exporters use.
  std::string ints(const Dims& values, bool as_scalar = false) {
    Tensor tensor = Tensor::of<std::int64_t>(DType::int64, {}, values);
    if (!as_scalar) tensor.dims = {static_cast<std::int64_t>(values.size())};
    return store(tensor, "ints");
  }

  /// Describes a value as graph input or output; dims of outputs are sometimes left unsaid.
  void describe(pb::ValueInfoProto& info, const Val& value, bool full) {
    info.set_name(value.name);
    auto& tensor = *info.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(static_cast<int>(value.dtype));
    if (!full) return;
    tensor.mutable_shape();
    for (const std::int64_t dim : value.dims) {
      auto& axis = *tensor.mutable_shape()->add_dim();
      if (dim == kSymbol)
        axis.set_dim_param("N");
      else
        axis.set_dim_value(dim);
    }
  }

  std::string store(const Tensor& tensor, const std::string& stem) {
    pb::TensorProto proto;
    proto.set_name(fresh(stem));
    proto.set_data_type(static_cast<int>(tensor.dtype));
    for (const std::int64_t dim : tensor.dims) proto.add_dims(dim);
    const bool typed = chance(20) && (tensor.dtype == DType::float32 || tensor.dtype == DType::int64);
    if (!typed) {
      proto.set_raw_data(tensor.bytes.data(), tensor.bytes.size());
    } else if (tensor.dtype == DType::float32) {
      for (const float item : tensor.as<float>()) proto.add_float_data(item);
    } else {
      for (const std::int64_t item : tensor.as<std::int64_t>()) proto.add_int64_data(item);
    }
    const std::string name = proto.name();
    if (chance(20)) {
      pb::NodeProto& node = *graph().add_node();
      node.set_op_type("Constant");
      node.add_output(name);
      *onnx::test::add_attribute(node, "value", pb::AttributeProto::TENSOR).mutable_t() = std::move(proto);
    } else {
      if (model_.ir_version() < 4 || chance(3)) describe_input(tensor, name);
      *graph().add_initializer() = std::move(proto);
    }
    return name;
  }

 private:
  static std::int64_t ir_for(std::int64_t opset) {
    if (opset <= 8) return 3;
    if (opset <= 10) return 5;
    if (opset <= 14) return 7;
    return opset <= 18 ? 8 : 10;
  }

  void describe_input(const Tensor& tensor, const std::string& name) {
    describe(*graph().add_input(), {name, tensor.dtype, tensor.dims}, true);
  }

  template <typename Draw>
  std::string constant(const Dims& dims, const Draw& draw, double scale) {
    for (const Shared& other : constants_)
      if (other.dims == dims && other.scale == scale && scale >= 0 && chance(25)) return other.name;
    std::int64_t count = 1;
    for (const std::int64_t dim : dims) count *= dim;
    std::vector<double> values(static_cast<std::size_t>(count));
    std::generate(values.begin(), values.end(), draw);
    const std::string name = store(from_doubles(real_, dims, values), "w");
    constants_.push_back({dims, scale, name});
    return name;
  }

  Val calmed(const Val& value) {
    Val out{"", value.dtype, value.dims, 1, false, false};
    node("Tanh", {value.name}, out);
    return out;
  }

  struct Shared {
    Dims dims;
    double scale;
    std::string name;
  };

  std::int64_t opset_;
  DType real_;
  Rng& rng_;
  pb::ModelProto model_;
  std::vector<Val> pool_;
  std::vector<Shared> constants_;
  int next_ = 0;
};

}
