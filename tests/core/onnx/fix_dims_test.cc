#include <gtest/gtest.h>

#include "core/onnx/export.h"
#include "core/onnx/model_builder.h"

namespace regraft::onnx {
namespace {

namespace pb = ::onnx;
using test::ModelBuilder;

graph::Dims dims_of(const ImportedModel& model, const std::string& name) {
  return model.tables().type(*model.type_of(name)).dims;
}

/// relu(x) and relu(z).
std::string model_of_three_dims() {
  ModelBuilder model;
  model.input("x", {"n", ""}).input("z", {"m", "n"}).output("y", {"n", ""}).output("u", {"m", "n"});
  model.node("Relu", {"x"}, {"y"});
  model.node("Relu", {"z"}, {"u"});
  return model.bytes();
}

TEST(FixedDims, AreNumbersWhereverTheirNameStands) {
  const std::string bytes = model_of_three_dims();
  const ImportedModel model = import_model_bytes(std::as_bytes(std::span(bytes)), "", {.fixed = {{"n", 3}}});
  EXPECT_EQ(dims_of(model, "x")[0], 3);
  EXPECT_TRUE(graph::is_symbol(dims_of(model, "x")[1]));
  EXPECT_TRUE(graph::is_symbol(dims_of(model, "z")[0]));
  EXPECT_EQ(dims_of(model, "z")[1], 3);
  pb::ModelProto proto;
  ASSERT_TRUE(proto.ParseFromString(export_model_bytes(model, model.graph())));
  const pb::GraphProto& written = proto.graph();
  EXPECT_EQ(written.input(1).type().tensor_type().shape().dim(1).dim_value(), 3);
  EXPECT_EQ(written.output(0).type().tensor_type().shape().dim(0).dim_value(), 3);
  EXPECT_EQ(written.input(1).type().tensor_type().shape().dim(0).dim_param(), "m");
}

TEST(FixedDims, WithoutANameHaveTheirPlace) {
  const std::string bytes = model_of_three_dims();
  const ImportedModel model =
      import_model_bytes(std::as_bytes(std::span(bytes)), "", {.fixed = {{"x.1", 5}}});
  EXPECT_TRUE(graph::is_symbol(dims_of(model, "x")[0]));
  EXPECT_EQ(dims_of(model, "x")[1], 5);
}

TEST(FixedDims, ThatNobodyHasChangeNothing) {
  const std::string bytes = model_of_three_dims();
  const ImportedModel model = import_model_bytes(std::as_bytes(std::span(bytes)), "", {.fixed = {{"k", 5}}});
  EXPECT_EQ(export_model_bytes(model, model.graph()), bytes);
}

}  // namespace
}
