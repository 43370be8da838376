#include "core/onnx/import.h"
#include "core/graph/constants.h"

#include <gmock/gmock.h>

#include <limits>

#include "core/onnx/model_builder.h"
#include "support/validate.h"

namespace regraft::onnx {
namespace {

using graph::Attr;
using graph::Ints;
using graph::OpKind;
using test::Built;
using test::find_node;
using test::import_text;
using test::ModelBuilder;
using test::output_type;

const graph::Node& node_of(const ImportedModel& model, const std::string& output) {
  return model.graph().node(find_node(model, output));
}

const graph::AttrBlock& attrs_of(const ImportedModel& model, const std::string& output) {
  return model.graph().attrs(find_node(model, output));
}

TEST(Import, KeepsNodesAsOriginsAndConstantsAsWeights) {
  ModelBuilder builder;
  builder.input("x", {"batch", "4"}).output("y", {"batch", "3"}).floats("w", {4, 3}).floats("unused", {2});
  builder.node("MatMul", {"x", "w"}, {"h"});
  builder.node("Relu", {"h"}, {"y"});
  const Built model(builder);
  graph::validate(model.graph());
  EXPECT_EQ(model.graph().operation_count(), 2u);
  EXPECT_EQ(model.graph().live_count(), 4u) << "x, w, MatMul, Relu; the unused initializer has no node";
  EXPECT_EQ(node_of(model, "h").kind, OpKind::matmul);
  EXPECT_EQ(node_of(model, "h").origin, 0);
  EXPECT_EQ(node_of(model, "y").origin, 1);
  EXPECT_EQ(output_type(model, "y"), "float32[batch, 3]");
  EXPECT_EQ(model.opset(), 17);
}

TEST(Import, LeavesLargeTensorsWhereTheyAre) {
  ModelBuilder builder;
  builder.input("x", {"1", "100"}).output("y", {"1", "100"}).floats("w", {100, 100});
  builder.node("MatMul", {"x", "w"}, {"y"});
  const Built model(builder);
  const graph::WeightId weight = model.graph().weight_of(node_of(model, "y").inputs[1]);
  const auto held = model.tables().weights()[weight].bytes;
  EXPECT_EQ(held.size(), 40000u);
  const auto* begin = reinterpret_cast<const std::byte*>(model.bytes.data());
  EXPECT_TRUE(held.data() >= begin && held.data() + held.size() <= begin + model.bytes.size());
}

TEST(Import, ConstantOperandsBecomeAttributesInEveryOpset) {
  for (const std::int64_t opset : {12, 13, 18}) {
    ModelBuilder builder(opset);
    builder.input("x", {"2", "3", "1"}).output("y", {"2", "3"}).ints("axes", {-1});
    auto& squeeze =
        opset < 13 ? builder.node("Squeeze", {"x"}, {"y"}) : builder.node("Squeeze", {"x", "axes"}, {"y"});
    if (opset < 13) test::set_ints(squeeze, "axes", {-1});
    const Built model(builder);
    EXPECT_EQ(attrs_of(model, "y").ints(Attr::axes), Ints{2}) << opset;
    EXPECT_EQ(node_of(model, "y").inputs.size(), 1u) << opset;
    EXPECT_EQ(model.graph().live_count(), 2u) << "the axes need no node";
  }
}

TEST(Import, ComputesShapesThroughShapeArithmetic) {
  ModelBuilder builder;
  builder.input("x", {"2", "6"})
      .output("y", {"a", "b", "c"})
      .ints("three", {3})
      .ints("minus", {-1})
      .ints("at", {0});
  builder.node("Shape", {"x"}, {"s"});
  builder.node("Gather", {"s", "at"}, {"first"});
  test::set_int(builder.node("Concat", {"first", "three", "minus"}, {"shape"}), "axis", 0);
  builder.node("Reshape", {"x", "shape"}, {"y"});
  const Built model(builder);
  graph::validate(model.graph());
  EXPECT_EQ(output_type(model, "y"), "float32[2, 3, 2]");
  EXPECT_EQ(node_of(model, "y").inputs.size(), 2u) << "the arithmetic itself is left in place";
  ASSERT_EQ(model.known_values().size(), 3u);
  const KnownValue& shape = model.known_values().back();
  const auto shape_values = graph::integer_values(model.tables(), shape.weight);
  ASSERT_TRUE(shape_values);
  EXPECT_EQ(std::vector<std::int64_t>(shape_values->begin(), shape_values->end()),
            (std::vector<std::int64_t>{2, 3, -1}));
}

TEST(Import, AutoPadBecomesExplicit) {
  ModelBuilder builder;
  builder.input("x", {"1", "2", "8", "9"}).output("y", {"1", "4", "4", "5"}).floats("w", {4, 2, 3, 3});
  auto& conv = builder.node("Conv", {"x", "w"}, {"y"});
  test::set_text(conv, "auto_pad", "SAME_UPPER");
  test::set_ints(conv, "strides", {2, 2});
  const Built model(builder);
  EXPECT_EQ(attrs_of(model, "y").ints(Attr::pads), (Ints{0, 1, 1, 1}));
  EXPECT_EQ(attrs_of(model, "y").ints(Attr::kernel_shape), (Ints{3, 3}));
  EXPECT_EQ(output_type(model, "y"), "float32[1, 4, 4, 5]");
}

// What SAME pads does not depend on sizes where windows move by one, nor ever on the batch.
TEST(Import, AutoPadBecomesExplicitWhereSizesAreDynamic) {
  ModelBuilder builder;
  builder.input("x", {"batch", "2", "8", "time"}).output("y", {"n", "4", "8", "t"}).floats("w", {4, 2, 3, 6});
  test::set_text(builder.node("Conv", {"x", "w"}, {"same"}), "auto_pad", "SAME_LOWER");
  auto& strided = builder.node("Conv", {"x", "w"}, {"y"});
  test::set_text(strided, "auto_pad", "SAME_UPPER");
  test::set_ints(strided, "strides", {2, 1});
  builder.node("Neg", {"same"}, {"z"});
  builder.output("z", {"n", "4", "8", "t"});
  const ImportedModel model = import_text(builder.bytes());
  EXPECT_EQ(attrs_of(model, "same").ints(Attr::pads), (Ints{1, 3, 1, 2}));
  EXPECT_EQ(attrs_of(model, "y").ints(Attr::pads), (Ints{0, 2, 1, 3}));
  EXPECT_EQ(output_type(model, "same"), "float32[batch, 4, 8, time]");
  test::set_ints(*builder.model.mutable_graph()->mutable_node(0), "strides", {1, 2});
  EXPECT_EQ(node_of(import_text(builder.bytes()), "same").kind, OpKind::opaque)
      << "of time, two pads are possible";
}

// A last window that begins in the padding is counted by the standard's inference and dropped by the runtime.
TEST(Import, PoolsOfUncertainSizeStayOpaque) {
  const auto pooled = [](std::int64_t opset, const char* size, std::int64_t stride, bool ceil) {
    ModelBuilder builder(opset);
    builder.input("x", {"1", "2", size}).output("y", {});
    builder.model.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type()->clear_shape();
    auto& pool = builder.node("MaxPool", {"x"}, {"y"});
    test::set_ints(pool, "kernel_shape", {2});
    test::set_ints(pool, "strides", {stride});
    test::set_ints(pool, "pads", {1, 1});
    test::set_int(pool, "ceil_mode", ceil ? 1 : 0);
    const Built model(builder);
    return node_of(model, "y").kind == OpKind::opaque ? "opaque" : output_type(model, "y");
  };
  EXPECT_EQ(pooled(17, "5", 2, false), "float32[1, 2, 3]");
  EXPECT_EQ(pooled(17, "5", 2, true), "opaque");
  EXPECT_EQ(pooled(17, "6", 2, true), "float32[1, 2, 4]");
  EXPECT_EQ(pooled(22, "5", 2, true), "float32[1, 2, 3]");
  EXPECT_NE(pooled(17, "n", 1, true), "opaque");
  EXPECT_EQ(pooled(17, "n", 2, true), "opaque");
}

TEST(Import, ReductionsThatMayDoNothingStayOpaque) {
  const auto kind_of = [](const std::vector<std::int64_t>& axes, bool may_do_nothing) {
    ModelBuilder builder(18);
    builder.input("x", {"2", "3"}).output("y", {"2", "3"}).ints("axes", axes);
    builder.model.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type()->clear_shape();
    auto& reduce = builder.node("ReduceMin", {"x", "axes"}, {"y"});
    test::set_int(reduce, "noop_with_empty_axes", may_do_nothing ? 1 : 0);
    const std::string bytes = builder.bytes();
    return node_of(import_text(bytes), "y").kind;
  };
  EXPECT_EQ(kind_of({}, true), OpKind::opaque);
  EXPECT_EQ(kind_of({}, false), OpKind::reduce_min);
  EXPECT_EQ(kind_of({1}, true), OpKind::reduce_min);
}

TEST(Import, WhatIsNotUnderstoodStaysOpaque) {
  ModelBuilder builder;
  builder.input("x", {"2", "3"}).output("y", {"2", "3"}).output("z", {"2", "3"});
  test::set_int(builder.node("Relu", {"x"}, {"r"}), "invented", 1);
  auto& custom = builder.node("Magic", {"r"}, {"y"});
  custom.set_domain("my.domain");
  builder.node("Add", {"y", "x"}, {"z"});
  const Built model(builder);
  graph::validate(model.graph());
  EXPECT_EQ(node_of(model, "r").kind, OpKind::opaque);
  EXPECT_EQ(model.op_type(1), "my.domain.Magic");
  EXPECT_EQ(node_of(model, "z").kind, OpKind::add);
  EXPECT_NE(model.tables().opaque_hash(0), model.tables().opaque_hash(1));
}

TEST(Import, DimsOfUnlikeNamesBroadcast) {
  ModelBuilder builder;
  builder.input("x", {"a_rather_long_name_of_a_dim"}).input("y", {"another_long_name_of_a_dim"});
  builder.output("z", {"other"});
  builder.node("Add", {"x", "y"}, {"s"});
  builder.node("Concat", {"s", "x"}, {"z"});
  test::set_int(*builder.model.mutable_graph()->mutable_node(1), "axis", 0);
  const Built model(builder);
  const std::string sum = "bcast(a_rather_long_name_of_a_dim,another_long_name_of_a_dim)";
  EXPECT_EQ(output_type(model, "s"), "float32[" + sum + "]");
  EXPECT_EQ(output_type(model, "z"), "float32[(a_rather_long_name_of_a_dim+" + sum + ")]");
}

TEST(Import, DimsThatAreCalledUnknownAreNotEqual) {
  for (const char* unknown : {"?", "None"}) {
    ModelBuilder builder;
    builder.input("x", {unknown, unknown}).output("y", {unknown, unknown});
    builder.node("Transpose", {"x"}, {"y"});
    EXPECT_EQ(output_type(import_text(builder.bytes()), "y"), "float32[x.1, x.0]");
  }
}

TEST(Import, OldSoftmaxIsKnownOnlyAlongTheLastAxis) {
  ModelBuilder builder(11);
  builder.input("x", {"2", "3", "4"}).output("a", {"2", "3", "4"}).output("b", {"2", "3", "4"});
  builder.node("Softmax", {"x"}, {"a"});
  test::set_int(builder.node("Softmax", {"x"}, {"b"}), "axis", 2);
  const Built model(builder);
  EXPECT_EQ(node_of(model, "a").kind, OpKind::opaque);
  EXPECT_EQ(node_of(model, "b").kind, OpKind::softmax);
}

TEST(Import, ADropoutThatDoesNotTrainIsAnIdentity) {
  const auto kinds = [](std::int64_t opset, const std::string& training, bool mask) {
    ModelBuilder builder(opset);
    builder.input("x", {"2"}).output("y", {"2"}).floats("ratio", {});
    builder.input("flag", {}, test::pb::TensorProto::BOOL);
    builder.initializer("no", {}, std::vector<char>{0}, test::pb::TensorProto::BOOL);
    builder.initializer("yes", {}, std::vector<char>{1}, test::pb::TensorProto::BOOL);
    const std::vector<std::string> outputs =
        mask ? std::vector<std::string>{"d", "m"} : std::vector<std::string>{"d"};
    if (opset < 12)
      test::set_float(builder.node("Dropout", {"x"}, outputs), "ratio", 0.5f);
    else if (training.empty())
      builder.node("Dropout", {"x", "ratio"}, outputs);
    else
      builder.node("Dropout", {"x", "ratio", training}, outputs);
    builder.node("Relu", {"d"}, {"y"});
    const Built model(builder);
    const graph::Graph& graph = model.graph();
    return graph.node(graph.node(graph.outputs()[0].node).inputs[0].node).kind;
  };
  EXPECT_EQ(kinds(11, "", false), graph::OpKind::identity);
  EXPECT_EQ(kinds(17, "", false), graph::OpKind::identity);
  EXPECT_EQ(kinds(17, "no", false), graph::OpKind::identity);
  EXPECT_EQ(kinds(17, "yes", false), graph::OpKind::opaque);
  EXPECT_EQ(kinds(17, "flag", false), graph::OpKind::opaque);
  EXPECT_EQ(kinds(17, "no", true), graph::OpKind::opaque);
}

TEST(Import, OverridableInitializersAreInputs) {
  for (const std::int64_t ir : {3, 8}) {
    ModelBuilder builder(17, ir);
    builder.input("x", {"2"}).input("w", {"2"}).output("y", {"2"}).floats("w", {2});
    builder.node("Add", {"x", "w"}, {"y"});
    const Built model(builder);
    const auto w = node_of(model, "y").inputs[1];
    EXPECT_EQ(model.graph().node(w.node).kind, ir < 4 ? OpKind::weight : OpKind::input) << "IR " << ir;
  }
}

/// As exporters compute pads from the last axis to the first: a list of pairs, reversed.
TEST(Import, PadsThatAreReversedConstantsAreKnown) {
  ModelBuilder builder;
  builder.input("x", {"n", "m"}).output("y", {"n", "m"});
  builder.initializer("pairs", {2, 2}, std::vector<std::int64_t>{0, 32, 1, 2}, test::pb::TensorProto::INT64);
  const std::vector<std::pair<const char*, std::int64_t>> bounds{
      {"start", -1},
      {"end", std::numeric_limits<std::int64_t>::min() + 1},
      {"axis", 0},
      {"step", -1},
      {"flat", -1}};
  for (const auto& [name, value] : bounds) builder.ints(name, {value});
  builder.node("Slice", {"pairs", "start", "end", "axis", "step"}, {"reversed"});
  test::set_ints(builder.node("Transpose", {"reversed"}, {"turned"}), "perm", {1, 0});
  builder.node("Reshape", {"turned", "flat"}, {"pads"});
  builder.node("Pad", {"x", "pads"}, {"padded"});
  builder.node("Relu", {"padded"}, {"y"});
  const Built model(builder);
  EXPECT_EQ(output_type(model, "padded"), "float32[(n+3), (m+32)]");
}

TEST(Import, SubGraphCapturesAreUses) {
  ModelBuilder builder;
  builder.input("c", {}, test::pb::TensorProto::BOOL).input("x", {"2"}).output("y", {"2"});
  builder.node("Relu", {"x"}, {"r"});
  auto& branch = builder.node("If", {"c"}, {"y"});
  for (const char* name : {"then_branch", "else_branch"}) {
    auto* attribute = branch.add_attribute();
    attribute->set_name(name);
    attribute->set_type(test::pb::AttributeProto::GRAPH);
    auto* node = attribute->mutable_g()->add_node();
    node->set_op_type("Neg");
    node->add_input("r");
    node->add_output(std::string("inner_") + name);
    attribute->mutable_g()->add_output()->set_name(std::string("inner_") + name);
  }
  const Built model(builder);
  graph::validate(model.graph());
  const auto inputs = node_of(model, "y").inputs;
  ASSERT_EQ(inputs.size(), 2u);
  EXPECT_EQ(inputs[1].node, find_node(model, "r"));
}

TEST(Import, EqualConstantsAreOne) {
  ModelBuilder builder;
  builder.input("x", {"2"}).output("y", {"2"}).floats("v", {2}).floats("w", {2});
  builder.node("Add", {"x", "v"}, {"h"});
  builder.node("Mul", {"h", "w"}, {"y"});
  const Built model(builder);
  EXPECT_EQ(node_of(model, "h").inputs[1], node_of(model, "y").inputs[1]);
}

}  // namespace
}
