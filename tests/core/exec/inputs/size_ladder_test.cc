#include "core/exec/inputs/size_ladder.h"

#include <gtest/gtest.h>

#include "core/exec/tiny_models.h"

namespace regraft::exec {
namespace {

using testing::ModelBuilder;
using testing::TempFolder;

class SizeLadder : public ::testing::Test {
 protected:
  /// The dynamic dims of a model with one float input of these.
  std::vector<DynamicDim> dims(const std::vector<std::string>& axes, const InputMeanings& meanings = {}) {
    ModelBuilder::Shape shape;
    ValueInfo info{"x", DType::float32, {}};
    for (const std::string& axis : axes) {
      shape.emplace_back(axis.c_str());
      info.dims.push_back({-1, axis});
    }
    ModelBuilder model;
    model.input("x", shape).output("y", shape).node("Relu", {"x"}, {"y"});
    return dynamic_dims(model.write(folder_ / "m.onnx"), std::vector{info}, meanings);
  }

  TempFolder folder_;
};

TEST_F(SizeLadder, FloatsThatAreIndicesAreTokens) {
  EXPECT_EQ(dims({"n", "m"})[1].options.at(0).size, 16000);
  InputMeaning index;
  index.meaning = Meaning::index;
  EXPECT_EQ(dims({"n", "m"}, {{"x", index}})[1].kind, DimKind::length);
}

TEST_F(SizeLadder, NodesAndEdgesOfGraphsAreMany) {
  EXPECT_EQ(dims({"num_nodes", "k"})[0].kind, DimKind::length);
  EXPECT_EQ(dims({"EdgeCount"})[0].kind, DimKind::length);
  EXPECT_EQ(dims({"num_graphs"})[0].kind, DimKind::batch);
  EXPECT_EQ(dims({"n", "graphemes"})[1].kind, DimKind::samples) << "by its place";
}

}  // namespace
}
