// Shapes that exporters compute: what is known of them, and of what they shape, before the model runs.
#include "core/onnx/shape_elements.h"

#include <gtest/gtest.h>

#include <limits>

#include "core/onnx/model_builder.h"

namespace regraft::onnx {
namespace {

namespace pb = ::onnx;
using test::Built;
using test::find_node;
using test::import_text;
using test::ModelBuilder;

/// Models of shape arithmetic over x, with constants as they are asked for.
class ComputedShapes : public ::testing::Test {
 protected:
  void begin(const test::Shape& x) {
    builder.input("x", x).output("y", {});
    builder.model.mutable_graph()->mutable_output(0)->clear_type();
    builder.node("Shape", {"x"}, {"s"});
  }

  std::string ints(const std::vector<std::int64_t>& values) {
    std::string name = "c" + std::to_string(constants++);
    builder.ints(name, values);
    return name;
  }

  std::string op(const std::string& type, const std::vector<std::string>& inputs) {
    std::string name = "v" + std::to_string(constants++);
    builder.node(type, inputs, {name});
    return name;
  }

  std::string dim(std::int64_t axis) { return op("Gather", {"s", ints({axis})}); }

  std::string joined(const std::vector<std::string>& parts) {
    std::string name = op("Concat", parts);
    test::set_int(*builder.model.mutable_graph()->mutable_node(builder.model.graph().node_size() - 1), "axis",
                  0);
    return name;
  }

  /// The type of `y`, which a node of this type makes.
  std::string type_of(const std::string& type, const std::vector<std::string>& inputs) {
    builder.node(type, inputs, {"y"});
    const Built model(builder);
    return model.tables().describe(model.graph().type_id({find_node(model, "y"), 0}));
  }

  ModelBuilder builder;
  int constants = 0;
};

TEST_F(ComputedShapes, HeadsAreSplitOff) {
  begin({"batch", "seq", "768"});
  const std::string heads = op("Div", {dim(2), ints({64})});
  EXPECT_EQ(type_of("Reshape", {"x", joined({dim(0), dim(1), heads, ints({64})})}),
            "float32[batch, seq, 12, 64]");
}

TEST_F(ComputedShapes, HeadsJoinTheBatchAndLeaveItAgain) {
  begin({"batch", "12", "seq", "64"});
  const std::string both = op("Mul", {dim(0), dim(1)});
  const std::string folded = op("Reshape", {"x", joined({both, dim(2), ints({-1})})});
  EXPECT_EQ(type_of("Reshape", {folded, joined({dim(0), dim(1), ints({-1}), dim(3)})}),
            "float32[batch, 12, seq, 64]");
}

TEST_F(ComputedShapes, DimsAreTakenOutOfAShape) {
  begin({"batch", "6", "seq", "4"});
  const std::string every_second = op("Slice", {"s", ints({-4}), ints({99}), ints({0}), ints({2})});
  EXPECT_EQ(type_of("ConstantOfShape", {joined({every_second, op("Gather", {"s", ints({-1, 1})})})}),
            "float32[batch, seq, 4, 6]");
}

TEST_F(ComputedShapes, WhatIsLeftFollowsFromTheOthers) {
  begin({"batch", "6", "4"});
  EXPECT_EQ(type_of("Reshape", {"x", joined({dim(0), ints({2}), ints({-1})})}), "float32[batch, 2, 12]");
}

TEST_F(ComputedShapes, AnElementThatNothingSaysIsWhatTheOthersLeave) {
  builder.input("n", {"1"}, pb::TensorProto::INT64);
  begin({"batch", "6", "4"});
  EXPECT_EQ(type_of("Reshape", {"x", joined({dim(0), "n", ints({3})})}), "float32[batch, 8, 3]");
}

TEST_F(ComputedShapes, SeveralThatNothingSaysStayUnknown) {
  builder.input("n", {"2"}, pb::TensorProto::INT64);
  begin({"batch", "6", "4"});
  const std::string type = type_of("Reshape", {"x", joined({dim(0), "n", ints({3})})});
  EXPECT_TRUE(type.starts_with("float32[batch, ?")) << type;
  EXPECT_EQ(type.substr(type.size() - 4), ", 3]");
}

TEST_F(ComputedShapes, AnExpandToWhereTheShapeIsNotMinusOne) {
  begin({"batch", "1", "seq"});
  const std::string wanted = joined({dim(0), ints({4}), ints({-1})});
  const std::string ones = op("ConstantOfShape", {ints({3})});
  auto& fill = test::add_attribute(*builder.model.mutable_graph()->mutable_node()->rbegin(), "value",
                                   pb::AttributeProto::TENSOR);
  ModelBuilder::fill_tensor<std::int64_t>(*fill.mutable_t(), "", {1}, {1}, pb::TensorProto::INT64);
  const std::string marked = op("Equal", {wanted, op("Mul", {ones, ints({-1})})});
  EXPECT_EQ(type_of("Expand", {"x", op("Where", {marked, ones, wanted})}), "float32[batch, 4, seq]");
}

TEST_F(ComputedShapes, ZerosOfAShape) {
  begin({"batch", "seq"});
  EXPECT_EQ(type_of("ConstantOfShape", {joined({ints({2}), dim(0), ints({320})})}), "float32[2, batch, 320]");
}

TEST_F(ComputedShapes, ChunksOfAnAxis) {
  begin({"batch", "seq", "8"});
  const std::string half = op("Div", {op("Add", {dim(1), ints({1})}), ints({2})});
  EXPECT_EQ(type_of("Slice", {"x", ints({0}), half, ints({1})}),
            "float32[batch, slice(seq,0,((1+seq)/2),1), 8]");
}

TEST_F(ComputedShapes, ChunksOfAnAxisOfKnownLength) {
  begin({"batch", "12"});
  const std::string third = op("Div", {op("Add", {dim(1), ints({2})}), ints({3})});
  EXPECT_EQ(type_of("Slice", {"x", third, op("Mul", {third, ints({2})}), ints({1})}), "float32[batch, 4]");
}

TEST_F(ComputedShapes, ASliceOfAllIsAll) {
  begin({"batch", "seq", "8"});
  EXPECT_EQ(type_of("Slice", {"x", ints({0}), dim(1), ints({-2})}), "float32[batch, seq, 8]");
}

TEST_F(ComputedShapes, ASliceAlongAnAxisThatNothingSaysKeepsItsRankAlone) {
  builder.input("axis", {"1"}, pb::TensorProto::INT64);
  begin({"3", "4"});
  const std::string type = type_of("Slice", {"x", ints({0}), ints({2}), "axis"});
  EXPECT_TRUE(type.starts_with("float32[?")) << type;
  EXPECT_EQ(std::count(type.begin(), type.end(), ','), 1) << type;
}

TEST_F(ComputedShapes, TilesAndSizes) {
  begin({"n", "4"});
  EXPECT_EQ(type_of("Tile", {"x", joined({ints({3}), dim(0)})}), "float32[(3*n), (4*n)]");
}

TEST_F(ComputedShapes, AMapIsResizedToAnother) {
  builder.input("small", {"batch", "8", "h", "w"});
  begin({"batch", "8", "rows", "columns"});
  EXPECT_EQ(type_of("Resize", {"small", "", "", "s"}), "float32[batch, 8, rows, columns]");
}

TEST_F(ComputedShapes, AMapIsResizedByScales) {
  begin({"batch", "8", "rows", "7"});
  builder.initializer<float>("by", {4}, {1, 1, 2, 1.5f}, pb::TensorProto::FLOAT);
  EXPECT_EQ(type_of("Resize", {"x", "", "by"}), "float32[batch, 8, (2*rows), 10]");
}

TEST_F(ComputedShapes, ASequenceThatIsTurnedRoundKeepsItsLength) {
  begin({"time", "batch", "8"});
  const std::string last = ints({-1}), past = ints({-std::numeric_limits<std::int64_t>::max()});
  EXPECT_EQ(type_of("Slice", {"x", last, past, ints({0}), ints({-1})}), "float32[time, batch, 8]");
}

TEST_F(ComputedShapes, ASequenceFromTheLastButOneIsShorter) {
  begin({"time", "batch", "8"});
  const std::string past = ints({-std::numeric_limits<std::int64_t>::max()});
  const std::string type = type_of("Slice", {"x", ints({-2}), past, ints({0}), ints({-1})});
  EXPECT_TRUE(type.starts_with("float32[?")) << type;
  EXPECT_TRUE(type.ends_with(", batch, 8]")) << type;
}

TEST_F(ComputedShapes, EqualPartsOfASymbol) {
  begin({"batch", "n"});
  test::set_int(builder.node("Split", {"x"}, {"left", "right"}), "axis", 1);
  EXPECT_EQ(type_of("Neg", {"right"}), "float32[batch, (n/2)]");
}

TEST_F(ComputedShapes, ProductsOfIntegers) {
  builder.input("a", {"batch", "seq", "8"}, pb::TensorProto::UINT8);
  builder.initializer<std::int8_t>("w", {8, 3}, std::vector<std::int8_t>(24, 1), pb::TensorProto::INT8);
  begin({"2"});
  EXPECT_EQ(type_of("MatMulInteger", {"a", "w"}), "int32[batch, seq, 3]");
}

TEST_F(ComputedShapes, ConvolutionsOfIntegers) {
  builder.input("a", {"batch", "8", "h", "9"}, pb::TensorProto::UINT8);
  builder.initializer<std::int8_t>("w", {3, 8, 3, 3}, std::vector<std::int8_t>(216, 1),
                                   pb::TensorProto::INT8);
  begin({"2"});
  test::set_ints(builder.node("ConvInteger", {"a", "w"}, {"c"}), "strides", {1, 2});
  EXPECT_EQ(type_of("Neg", {"c"}), "int32[batch, 3, ((h+-3)/1+1), 4]");
}

TEST_F(ComputedShapes, AllowzeroMeansNothingWhereNoNumberIsZero) {
  begin({"batch", "6"});
  const std::string shape = joined({dim(0), ints({2, 3})});
  test::set_int(builder.node("Reshape", {"x", shape}, {"r"}), "allowzero", 1);
  EXPECT_EQ(type_of("Neg", {"r"}), "float32[batch, 2, 3]");
  const ImportedModel model = import_text(builder.bytes());
  EXPECT_EQ(model.graph().node(find_node(model, "r")).kind, graph::OpKind::reshape);
}

TEST_F(ComputedShapes, PositionsAreCounted) {
  begin({"batch", "seq"});
  const auto scalar = [&](std::int64_t value) {
    const std::string name = "k" + std::to_string(value);
    builder.initializer<std::int64_t>(name, {}, {value}, pb::TensorProto::INT64);
    return name;
  };
  const std::string zero = scalar(0), one = scalar(1);
  EXPECT_EQ(type_of("Range", {zero, op("Gather", {"s", one}), one}), "int64[seq]");
}

TEST_F(ComputedShapes, ADifferenceMightBeNoSize) {
  begin({"n", "4"});
  const std::string type = type_of("ConstantOfShape", {joined({op("Sub", {dim(0), ints({3})}), dim(1)})});
  EXPECT_TRUE(type.starts_with("float32[?")) << type;
  EXPECT_TRUE(type.ends_with(", 4]")) << type;
}

TEST_F(ComputedShapes, NumbersThatOverflowAreNotKnown) {
  begin({"n", "4"});
  const std::string large = ints({std::int64_t{1} << 62});
  const std::string type =
      type_of("ConstantOfShape", {joined({op("Mul", {op("Mul", {large, dim(0)}), dim(1)}), dim(1)})});
  EXPECT_TRUE(type.starts_with("float32[?")) << type;
}

TEST_F(ComputedShapes, AShapeThatIsGivenIsNotWhatTheModelDeclares) {
  builder.input("shape", {"2"}, pb::TensorProto::INT64);
  auto& info = *builder.model.mutable_graph()->add_value_info();
  info.set_name("y");
  test::set_type(*info.mutable_type(), pb::TensorProto::FLOAT, {"6", "4"});
  begin({"4", "6"});
  const std::string type = type_of("Reshape", {"x", "shape"});
  EXPECT_TRUE(type.starts_with("float32[?")) << type;
}

TEST_F(ComputedShapes, ADeclaredNumberIsNotBelievedWhereASizeIsKnown) {
  auto& info = *builder.model.mutable_graph()->add_value_info();
  info.set_name("y");
  test::set_type(*info.mutable_type(), pb::TensorProto::FLOAT, {"1", "4"});
  begin({"batch", "2", "2"});
  EXPECT_EQ(type_of("Reshape", {"x", joined({dim(0), ints({4})})}), "float32[batch, 4]")
      << "the batch was made dynamic after the export";
}

}  // namespace
}
