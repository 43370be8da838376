#pragma once

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/cost/analytic_cost.h"
#include "core/cost/fused_patterns.h"
#include "core/graph/constants.h"
#include "core/graph/graph.h"

namespace regraft::cost::testing {

using graph::Attr;
using graph::AttrBlock;
using graph::Dim;
using graph::Ints;
using graph::NodeId;
using graph::OpKind;
using graph::Value;

inline const DeviceProfile& test_device() {
  static const DeviceProfile device =
      load_device(std::string(REGRAFT_SOURCE_DIR) + "/configs/devices/cpu-1core.toml");
  return device;
}

/// OpenVINO's, as launch/call/runtimes.h makes it.
inline const DeviceProfile& elementwise_device() {
  static const DeviceProfile device = [] {
    DeviceProfile made = test_device();
    made.fusing = Fusing::elementwise;
    made.fusions = std::make_shared<FusedPatterns>(
        FusedPatterns::load(std::string(REGRAFT_SOURCE_DIR) + "/configs/runtimes/openvino.fusions"));
    return made;
  }();
  return device;
}

/// A graph of float32 tensors, written by hand in a few lines.
class Net {
 public:
  graph::Tables tables;
  graph::Graph graph{tables};

  graph::TypeId type(const std::vector<Dim>& dims) { return tables.intern(graph::DType::float32, dims); }
  Value input(const std::vector<Dim>& dims) { return {graph.add_input(type(dims), inputs_++), 0}; }
  Value scalar(double value) {
    return graph.weight_value(tables.weights().scalar(graph::DType::float32, value));
  }
  /// A weight unlike all others, of which only the shape matters: nothing of its size is allocated.
  Value weight(const Ints& dims) {
    const graph::WeightId seed = tables.weights().scalar(graph::DType::float32, ++weights_);
    const graph::AttrId shape = tables.intern(AttrBlock{{Attr::shape, dims}});
    return graph.weight_value(graph::constant_operation(tables, OpKind::expand, shape, std::array{seed}));
  }
  NodeId node(OpKind kind, const std::vector<Value>& values, AttrBlock attrs = {}) {
    InlineVector<graph::Operand, 4> operands;
    for (const Value v : values)
      operands.push_back(v.present() ? graph::Operand{graph.type_id(v), graph.weight_of(v), true}
                                     : graph::Operand{tables.type_none(), graph::WeightId::none, false});
    const AttrBlock canonical = canonical_attrs(tables, kind, std::move(attrs), operands);
    return graph.add(kind, tables.intern(canonical), std::span(values).first(operands.size()));
  }
  Value op(OpKind kind, const std::vector<Value>& values, AttrBlock attrs = {}) {
    return {node(kind, values, std::move(attrs)), 0};
  }
  std::vector<Value> split(Value x, std::int64_t axis, const Ints& parts) {
    const NodeId id = node(OpKind::split, {x}, {{Attr::axis, axis}, {Attr::split, parts}});
    std::vector<Value> values;
    for (std::uint32_t i = 0; i < parts.size(); ++i) values.push_back({id, i});
    return values;
  }
  /// Convolution of an odd window that keeps the image's size at stride 1.
  Value conv(Value x, std::int64_t out, std::int64_t window, std::int64_t group = 1,
             std::int64_t stride = 1) {
    const std::int64_t pad = window / 2, in = graph.type(x).dims[1] / group;
    return op(OpKind::conv, {x, weight({out, in, window, window})},
              {{Attr::group, group},
               {Attr::pads, Ints{pad, pad, pad, pad}},
               {Attr::strides, Ints{stride, stride}}});
  }
  Value batch_norm(Value x) {
    const std::int64_t channels = graph.type(x).dims[1];
    std::vector<Value> values{x};
    for (int i = 0; i < 4; ++i) values.push_back(weight({channels}));
    return op(OpKind::batch_norm, values);
  }
  Value linear(Value x, std::int64_t out) {
    const auto& dims = graph.type(x).dims;
    return op(OpKind::add, {op(OpKind::matmul, {x, weight({dims[dims.size() - 1], out})}), weight({out})});
  }
  Value layer_norm(Value x) {
    const auto& dims = graph.type(x).dims;
    const std::int64_t width = dims[dims.size() - 1];
    return op(OpKind::layer_norm, {x, weight({width}), weight({width})}, {{Attr::axis, std::int64_t{-1}}});
  }
  /// LayerNormalization in parts; without a bias, and of x itself, SimplifiedLayerNormalization.
  Value norm_in_parts(Value x, bool simplified) {
    const std::int64_t width = graph.type(x).dims[graph.type(x).rank() - 1];
    const AttrBlock last{{Attr::axes, Ints{-1}}, {Attr::keepdims, std::int64_t{1}}};
    const Value d = simplified ? x : op(OpKind::sub, {x, op(OpKind::reduce_mean, {x}, last)});
    const Value mean = op(OpKind::reduce_mean, {op(OpKind::pow, {d, scalar(2)})}, last);
    const Value root = op(OpKind::sqrt, {op(OpKind::add, {mean, scalar(1e-5)})});
    const Value scaled = op(OpKind::mul, {op(OpKind::div, {d, root}), weight({width})});
    return simplified ? scaled : op(OpKind::add, {scaled, weight({width})});
  }
  Value row_mean(Value x) {
    return op(OpKind::reduce_mean, {x}, {{Attr::axes, Ints{-1}}, {Attr::keepdims, std::int64_t{1}}});
  }
  Value root_of_square(Value d) {
    return op(OpKind::sqrt, {op(OpKind::add, {row_mean(op(OpKind::pow, {d, scalar(2)})), scalar(1e-5)})});
  }
  Value norm_of_two_differences(Value x) {
    const std::int64_t width = graph.type(x).dims[graph.type(x).rank() - 1];
    const Value mean = row_mean(x), root = root_of_square(op(OpKind::sub, {x, mean}));
    const Value scaled = op(OpKind::div, {op(OpKind::sub, {x, mean}), root});
    return op(OpKind::add, {op(OpKind::mul, {scaled, weight({width})}), weight({width})});
  }
  Value norm_by_one_over(Value x, bool simplified) {
    const std::int64_t width = graph.type(x).dims[graph.type(x).rank() - 1];
    const Value d = simplified ? x : op(OpKind::sub, {x, row_mean(x)});
    const Value scaled =
        op(OpKind::mul,
           {op(OpKind::mul, {d, op(OpKind::div, {scalar(1), root_of_square(d)})}), weight({width})});
    return simplified ? scaled : op(OpKind::add, {scaled, weight({width})});
  }
  enum class GeluForm { exported, outer_half, inner_half };
  Value gelu(Value x, GeluForm form) {
    const Value erf = op(OpKind::erf, {op(OpKind::div, {x, scalar(1.41421354)})});
    const Value one = op(OpKind::add, {erf, scalar(1)});
    if (form == GeluForm::exported) return op(OpKind::mul, {x, op(OpKind::mul, {scalar(0.5), one})});
    if (form == GeluForm::outer_half) return op(OpKind::mul, {op(OpKind::mul, {x, one}), scalar(0.5)});
    return op(OpKind::mul, {op(OpKind::mul, {x, scalar(0.5)}), one});
  }
  Value gelu_by_tanh(Value x, double cube = 3) {
    const Value third = op(OpKind::mul, {op(OpKind::pow, {x, scalar(cube)}), scalar(0.044715)});
    const Value z = op(OpKind::mul, {op(OpKind::add, {x, third}), scalar(0.7978845608)});
    const Value one = op(OpKind::add, {op(OpKind::tanh, {z}), scalar(1)});
    return op(OpKind::mul, {op(OpKind::mul, {x, scalar(0.5)}), one});
  }
  Value gelu_by_tanh_of_products(Value x) {
    const Value square = op(OpKind::mul, {x, op(OpKind::mul, {x, scalar(0.044715)})});
    const Value z =
        op(OpKind::mul, {op(OpKind::mul, {x, scalar(0.7978845608)}), op(OpKind::add, {square, scalar(1)})});
    return op(OpKind::mul,
              {op(OpKind::mul, {x, scalar(0.5)}), op(OpKind::add, {op(OpKind::tanh, {z}), scalar(1)})});
  }
  /// An operation that rewrites leave alone.
  NodeId opaque(const std::string& op, const std::vector<Value>& values,
                const std::vector<graph::TypeId>& outputs, AttrBlock attrs = {}) {
    attrs.set(Attr::op_type, op);
    return graph.add(OpKind::opaque, tables.intern(attrs), values, outputs);
  }
  NodeId quantise(Value x) {
    const auto bytes = [&](const graph::Dims& dims) {
      return tables.intern(graph::TensorType{graph::DType::uint8, true, dims});
    };
    return opaque("DynamicQuantizeLinear", {x}, {bytes(graph.type(x).dims), type({}), bytes({})});
  }
  /// Floats of a product with a square matrix of bytes.
  Value integer_product(NodeId quantised, bool biased) {
    const Value bytes{quantised, 0}, scale{quantised, 1}, zero{quantised, 2};
    const graph::Dims dims = graph.type(bytes).dims;
    const Dim width = dims[dims.size() - 1];
    const NodeId product = opaque("MatMulInteger", {bytes, weight({width, width}), zero},
                                  {tables.intern(graph::TensorType{graph::DType::int32, true, dims})});
    const Value floats = op(OpKind::cast, {{product, 0}}, {{Attr::to, std::int64_t{1}}});
    const Value made = op(OpKind::mul, {floats, op(OpKind::mul, {scale, scalar(0.02)})});
    return biased ? op(OpKind::add, {made, weight({width})}) : made;
  }
  Net& output(Value value) {
    graph.add_output(value);
    return *this;
  }

  Cost cost() const { return AnalyticCost(test_device(), bindings_, graph).cost(); }
  double latency_us() const { return cost().latency_us; }
  double launches() const { return cost().launches; }
  double launches(const DeviceProfile& device) const {
    return AnalyticCost(device, bindings_, graph).cost().launches;
  }

 private:
  graph::Bindings bindings_;
  std::int32_t inputs_ = 0;
  int weights_ = 100;
};

}
