#include "core/onnx/opaque_types.h"

#include <gtest/gtest.h>

#include "core/onnx/model_builder.h"

namespace regraft::onnx {
namespace {

namespace pb = ::onnx;
using graph::OpKind;
using test::Built;
using test::find_node;
using test::import_text;
using test::ModelBuilder;
using test::output_type;

const graph::Node& node_of(const ImportedModel& model, const std::string& output) {
  return model.graph().node(find_node(model, output));
}

TEST(OpaqueTypes, GoThroughOpsWithoutAKind) {
  ModelBuilder builder;
  builder.input("x", {"2", "8"}).output("y", {"a", "b"}).ints("k", {3});
  builder.node("TopK", {"x", "k"}, {"values", "indices"});
  builder.node("Relu", {"values"}, {"r"});
  builder.node("Gather", {"r", "indices"}, {"y"});
  const Built model(builder);
  EXPECT_EQ(node_of(model, "values").kind, OpKind::opaque);
  EXPECT_EQ(output_type(model, "values"), "float32[2, 3]");
  EXPECT_EQ(output_type(model, "indices"), "int64[2, 3]");
  EXPECT_EQ(node_of(model, "r").kind, OpKind::relu);
  EXPECT_EQ(output_type(model, "y"), "float32[2, 3, 3]");
}

TEST(OpaqueTypes, OfShapesTellTheirParts) {
  ModelBuilder builder;
  builder.input("x", {"batch", "6", "4"}).output("y", {"a", "b", "c"}).ints("minus", {-1});
  auto& part = builder.node("Shape", {"x"}, {"s"});
  test::set_int(part, "start", -2);
  test::set_int(builder.node("Concat", {"minus", "s"}, {"shape"}), "axis", 0);
  builder.node("Reshape", {"x", "shape"}, {"y"});
  const Built model(builder);
  EXPECT_EQ(output_type(model, "s"), "int64[2]");
  EXPECT_EQ(output_type(model, "y"), "float32[batch, 6, 4]");
}

TEST(OpaqueTypes, AreThoseOfTheirInputs) {
  struct OneOp {
    const char* op;
    std::vector<std::string> inputs;
    std::vector<std::pair<const char*, std::int64_t>> attributes;
    const char* type;
  };
  const OneOp cases[] = {
      {"Selu", {"x"}, {}, "float32[2, 8, 4, 6]"},
      {"IsNaN", {"x"}, {}, "bool[2, 8, 4, 6]"},
      {"ArgMax", {"x"}, {{"axis", -1}}, "int64[2, 8, 4, 1]"},
      {"ArgMin", {"x"}, {{"axis", 1}, {"keepdims", 0}}, "int64[2, 4, 6]"},
      {"Size", {"x"}, {}, "int64[]"},
      {"SpaceToDepth", {"x"}, {{"blocksize", 2}}, "float32[2, 32, 2, 3]"},
      {"DepthToSpace", {"x"}, {{"blocksize", 2}}, "float32[2, 2, 8, 12]"},
      {"Einsum", {"x", "x"}, {}, "float32[...]"},
      {"ReduceL2", {"x"}, {}, "float32[1, 1, 1, 1]"},
      {"ReduceProd", {"x"}, {{"keepdims", 0}}, "float32[]"},
      {"ReduceL1", {"x", "axes"}, {{"keepdims", 0}}, "float32[8, 4]"},
      {"ReduceLogSum", {"x", "axes"}, {}, "float32[1, 8, 4, 1]"},
      {"GatherND", {"x", "places"}, {}, "float32[5, 4, 6]"},
      {"GatherND", {"x", "places"}, {{"batch_dims", 1}}, "float32[5, 6]"},
      {"GatherND", {"x", "places"}, {{"batch_dims", INT64_MAX}}, "float32[...]"},
      {"QuantizeLinear", {"x", "x"}, {}, "uint8[2, 8, 4, 6]"},
      {"GRU", {"s", "x", "x"}, {{"hidden_size", 5}}, "float32[7, 1, 3, 5]"},
      {"Cast", {"x"}, {{"to", 8}}, "string[2, 8, 4, 6]"},
      {"NoSuchOp", {"x"}, {}, "undefined[...]"},
  };
  for (const OneOp& test : cases) {
    ModelBuilder builder;
    builder.input("x", {"2", "8", "4", "6"}).input("s", {"7", "3", "2"}).output("o", {});
    builder.input("places", {"5", "2"}, pb::TensorProto::INT64).ints("axes", {0, -1});
    builder.model.mutable_graph()->mutable_output(0)->clear_type();
    auto& node = builder.node(test.op, test.inputs, {"o"});
    for (const auto& [name, value] : test.attributes) test::set_int(node, name, value);
    const std::string bytes = builder.bytes();
    EXPECT_EQ(output_type(import_text(bytes), "o"), test.type) << test.op;
  }
}

TEST(OpaqueTypes, OfEinsumsFollowFromTheirLabels) {
  const std::pair<const char*, const char*> cases[] = {
      {"b i d, b j d -> b i j", "float32[batch, 3, 5]"},
      {"bjd,bid", "float32[5, 3]"},  // what stands once, in the order of the alphabet
      {"...id,...jd->...ij", "float32[batch, 3, 5]"},
      {"bid,bjd->bz", "float32[...]"},
      {"bid,bjd->d", "float32[4]"},
      {"id,bjd->ij", "float32[...]"}};
  for (const auto& [equation, type] : cases) {
    ModelBuilder builder;
    builder.input("x", {"batch", "3", "4"}).input("y", {"batch", "5", "4"}).output("o", {});
    builder.model.mutable_graph()->mutable_output(0)->clear_type();
    test::set_text(builder.node("Einsum", {"x", "y"}, {"o"}), "equation", equation);
    const std::string bytes = builder.bytes();
    EXPECT_EQ(output_type(import_text(bytes), "o"), type) << equation;
  }
}

}  // namespace
}
