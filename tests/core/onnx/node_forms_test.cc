// Every op that a rewrite can make, in every opset that has it: written, read again, the same.
#include <gmock/gmock.h>

#include "core/onnx/export.h"
#include "core/onnx/model_builder.h"
#include "core/onnx/onnx_error.h"
#include "support/dead_nodes.h"
#include "support/validate.h"

namespace regraft::onnx {
namespace {

using graph::Attr;
using graph::AttrBlock;
using graph::DType;
using graph::Graph;
using graph::Ints;
using graph::OpKind;
using graph::Value;
using test::Built;
using test::import_text;
using test::ModelBuilder;

struct Case {
  OpKind kind;
  AttrBlock attrs;
  std::vector<std::vector<std::int64_t>>
      inputs;  // shapes of float inputs; the first is "x", the others are weights
  std::int64_t from_opset = 7;
};

constexpr std::int64_t kNewest = 21;

std::int64_t i64(std::int64_t value) {
  return value;
}

const AttrBlock kWindow{{Attr::kernel_shape, Ints{3, 2}},
                        {Attr::strides, Ints{2, 1}},
                        {Attr::pads, Ints{1, 0, 0, 1}},
                        {Attr::dilations, Ints{1, 1}}};
const AttrBlock kForwards{{Attr::starts, Ints{0, 1}},
                          {Attr::ends, Ints{2, 3}},
                          {Attr::axes, Ints{0, 1}},
                          {Attr::steps, Ints{1, 1}}};

std::vector<Case> cases() {
  AttrBlock conv = kWindow, max_pool = kWindow, average_pool = kWindow, transposed = kWindow;
  conv.set(Attr::group, i64(2));
  max_pool.set(Attr::ceil_mode, i64(0));
  average_pool.set(Attr::ceil_mode, i64(0));
  average_pool.set(Attr::count_include_pad, i64(1));
  transposed.set(Attr::group, i64(1));
  transposed.set(Attr::output_padding, Ints{0, 0});
  const AttrBlock reduce{{Attr::axes, Ints{0, 2}}, {Attr::keepdims, i64(0)}};
  return {
      {OpKind::relu, {}, {{2, 3}}},
      {OpKind::leaky_relu, {{Attr::alpha, 0.5}}, {{2, 3}}},
      {OpKind::elu, {{Attr::alpha, 0.5}}, {{2, 3}}},
      {OpKind::hard_sigmoid, {{Attr::alpha, 0.25}, {Attr::beta, 0.5}}, {{2, 3}}},
      {OpKind::hard_swish, {}, {{2, 3}}, 14},
      {OpKind::erf, {}, {{2, 3}}, 9},
      {OpKind::gelu, {{Attr::approximate, std::string("tanh")}}, {{2, 3}}, 20},
      {OpKind::round, {}, {{2, 3}}, 11},
      {OpKind::clip, {{Attr::min, -1.0}, {Attr::max, 2.0}}, {{2, 3}}},
      {OpKind::clip, {{Attr::max, 2.0}}, {{2, 3}}},
      {OpKind::cast, {{Attr::to, i64(7)}}, {{2, 3}}},
      {OpKind::identity, {}, {{2, 3}}},
      {OpKind::add, {}, {{2, 3}, {3}}},
      {OpKind::pow, {}, {{2, 3}, {1}}},
      {OpKind::max, {}, {{2, 3}, {2, 3}, {2, 3}}},
      {OpKind::sum, {}, {{2, 3}, {2, 3}}},
      {OpKind::prelu, {}, {{2, 3}, {3}}},
      {OpKind::greater, {}, {{2, 3}, {3}}},
      {OpKind::greater_or_equal, {}, {{2, 3}, {3}}, 12},
      {OpKind::cast_like, {}, {{2, 3}, {3}}, 15},
      {OpKind::matmul, {}, {{2, 3}, {3, 4}}},
      {OpKind::gemm,
       {{Attr::alpha, 0.5}, {Attr::beta, 2.0}, {Attr::trans_a, i64(0)}, {Attr::trans_b, i64(1)}},
       {{2, 3}, {4, 3}, {4}}},
      {OpKind::gemm,
       {{Attr::alpha, 1.0}, {Attr::beta, 1.0}, {Attr::trans_a, i64(0)}, {Attr::trans_b, i64(0)}},
       {{2, 3}, {3, 4}},
       11},
      {OpKind::conv, conv, {{1, 4, 6, 5}, {6, 2, 3, 2}, {6}}},
      {OpKind::conv_transpose, transposed, {{1, 4, 6, 5}, {4, 2, 3, 2}}},
      {OpKind::max_pool, max_pool, {{1, 4, 6, 5}}},
      {OpKind::average_pool, average_pool, {{1, 4, 6, 5}}},
      {OpKind::global_average_pool, {}, {{1, 4, 6, 5}}},
      {OpKind::batch_norm,
       {{Attr::epsilon, 0.5}, {Attr::momentum, 0.25}},
       {{1, 4, 6, 5}, {4}, {4}, {4}, {4}}},
      {OpKind::layer_norm, {{Attr::axis, i64(1)}, {Attr::epsilon, 0.5}}, {{2, 3}, {3}, {3}}, 17},
      {OpKind::instance_norm, {{Attr::epsilon, 0.5}}, {{1, 4, 6}, {4}, {4}}},
      {OpKind::softmax, {{Attr::axis, i64(2)}}, {{2, 3, 4}}},
      {OpKind::softmax, {{Attr::axis, i64(0)}}, {{2, 3, 4}}, 13},
      {OpKind::log_softmax, {{Attr::axis, i64(1)}}, {{2, 3}}},
      {OpKind::reduce_mean, reduce, {{2, 3, 4}}},
      {OpKind::reduce_sum, reduce, {{2, 3, 4}}},
      {OpKind::reduce_max, reduce, {{2, 3, 4}}},
      {OpKind::reduce_min, {{Attr::axes, Ints{1}}, {Attr::keepdims, i64(1)}}, {{2, 3, 4}}},
      {OpKind::reshape, {{Attr::shape, Ints{3, 8}}}, {{2, 3, 4}}},
      {OpKind::flatten, {{Attr::axis, i64(2)}}, {{2, 3, 4}}},
      {OpKind::transpose, {{Attr::perm, Ints{2, 0, 1}}}, {{2, 3, 4}}},
      {OpKind::squeeze, {{Attr::axes, Ints{0, 2}}}, {{1, 3, 1}}},
      {OpKind::unsqueeze, {{Attr::axes, Ints{0, 3}}}, {{2, 3}}},
      {OpKind::concat, {{Attr::axis, i64(1)}}, {{2, 3}, {2, 1}, {2, 4}}},
      {OpKind::split, {{Attr::axis, i64(1)}, {Attr::split, Ints{1, 4, 2}}}, {{2, 7}}},
      {OpKind::slice, kForwards, {{3, 4}}},
      {OpKind::expand, {{Attr::shape, Ints{2, 3, 4}}}, {{3, 1}}, 8},
      {OpKind::resize, {{Attr::shape, Ints{3, 4}}}, {{2, 5, 1, 4}}, 10},
      {OpKind::einsum, {{Attr::equation, Ints{0, 1, 2, 3, 0, 2, 0, 3, 1}}}, {{2, 3, 4}, {5, 2, 4}}, 12},
      {OpKind::lstm, {}, {{4, 2, 5}, {1, 12, 5}, {1, 12, 3}, {1, 24}}},
      {OpKind::gru, {}, {{4, 2, 5}, {1, 9, 5}, {1, 9, 3}, {1, 18}}},
      {OpKind::multi_head_attention,
       {{Attr::num_heads, i64(2)}, {Attr::scale, 0.5}},
       {{2, 3, 4}, {2, 5, 4}, {2, 5, 6}}},
      {OpKind::tile, {{Attr::repeats, Ints{2, 3}}}, {{3, 1}}},
      {OpKind::pad,
       {{Attr::pads, Ints{0, 1, 2, 0}}, {Attr::mode, std::string("constant")}, {Attr::value, 1.5}},
       {{3, 2}}},
      {OpKind::pad, {{Attr::pads, Ints{0, 1, 1, 0}}, {Attr::mode, std::string("reflect")}}, {{3, 2}}},
  };
}

/// A model whose only node is the case's, made through the Graph as a rewrite makes it.
std::string written(const Case& test, std::int64_t opset) {
  ModelBuilder builder(opset);
  test::Shape shape;
  for (const auto dim : test.inputs[0]) shape.push_back(std::to_string(dim));
  builder.input("x", shape).output("y", {});
  builder.model.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  for (std::size_t i = 1; i < test.inputs.size(); ++i)
    builder.floats("w" + std::to_string(i), test.inputs[i]);
  builder.node("Relu", {"x"}, {"y"});
  const Built model(builder);
  Graph graph = model.graph();
  std::vector<Value> inputs{graph.node(test::find_node(model, "y")).inputs[0]};
  for (std::size_t i = 1; i < test.inputs.size(); ++i) {
    const auto& tensor = builder.model.graph().initializer(static_cast<int>(i) - 1);
    const graph::Dims dims(std::span<const std::int64_t>(test.inputs[i]));
    inputs.push_back(graph.weight_value(model.tables().weights().source(
        model.tables().intern(DType::float32, dims), std::as_bytes(std::span(tensor.raw_data())),
        static_cast<int>(i) - 1)));
  }
  const auto id = graph.add(test.kind, graph.tables().intern(test.attrs), inputs);
  graph.set_output(0, {id, 0});
  remove_all_dead(graph);
  graph::validate(graph);
  std::string out = export_model_bytes(model, graph);
  test::pb::ModelProto proto;
  EXPECT_TRUE(proto.ParseFromString(out));
  auto* type = proto.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type();
  type->set_elem_type(static_cast<int>(graph.type({id, 0}).dtype));
  for (const graph::Dim dim : graph.type({id, 0}).dims) type->mutable_shape()->add_dim()->set_dim_value(dim);
  return proto.SerializeAsString();
}

TEST(Forms, AreReadBackAsTheyWereMeant) {
  for (const Case& test : cases())
    for (std::int64_t opset = test.from_opset; opset <= kNewest; ++opset) {
      SCOPED_TRACE(std::string(graph::op_info(test.kind).name) + " at opset " + std::to_string(opset));
      const std::string bytes = written(test, opset);
      const ImportedModel again = import_text(bytes);
      graph::validate(again.graph());
      const auto id = again.graph().outputs()[0].node;
      ASSERT_EQ(again.graph().node(id).kind, test.kind);
      EXPECT_EQ(again.graph().attrs(id), test.attrs);
      EXPECT_EQ(again.graph().node(id).inputs.size(), test.inputs.size());
    }
}

TEST(Forms, RefuseOpsetsWithoutThem) {
  for (const Case& test : cases()) {
    if (test.from_opset <= 7 || test.kind == OpKind::gemm) continue;
    EXPECT_THROW(written(test, test.from_opset - 1), OnnxError) << graph::op_info(test.kind).name;
  }
}

}  // namespace
}
