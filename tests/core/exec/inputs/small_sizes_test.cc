#include "core/exec/inputs/small_sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/exec/tiny_models.h"

namespace regraft::exec {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::ModelBuilder;
using testing::TempFolder;

TEST(SmallSizes, ConstantsComeFromShortTensorsAndAttributesThatMeanSizes) {
  const TempFolder folder;
  ModelBuilder model;
  model.input("x", {"n", 3}).output("y", {"n", 3}).integers("from", {-6, 0, 1 << 20});
  model.integers("table", std::vector<std::int64_t>(100, 33));  // too long to be of sizes
  testing::set_int(model.node("Softmax", {"x"}, {"y"}), "axis", 5);
  testing::set_int(model.node("SpaceToDepth", {"x"}, {"z"}), "blocksize", 2);
  EXPECT_THAT(small_constants(model.write(folder / "m.onnx"), 64), ElementsAre(2, 6));
  EXPECT_THAT(small_constants(folder / "m.onnx", 3), ElementsAre(2));
}

TEST(SmallSizes, ConstantsOfSubGraphsCountToo) {
  const TempFolder folder;
  ModelBuilder model, branch;
  branch.integers("inner", {11});
  ModelBuilder::set_body(model.node("If", {"c"}, {"y"}), "then_branch", branch);
  EXPECT_THAT(small_constants(model.write(folder / "m.onnx"), 64), ElementsAre(11));
}

TEST(SmallSizes, TheSmallestComeFirstThenNeighboursOfTheConstants) {
  EXPECT_THAT(telling_sizes(std::vector<std::int64_t>{3, 20}, 64), ElementsAre(2, 3, 4, 20, 19, 21, 5, 6, 8));
  EXPECT_THAT(telling_sizes(std::vector<std::int64_t>{1}, 2), ElementsAre(2, 1));
  EXPECT_THAT(telling_sizes({}, 0), IsEmpty());
}

}  // namespace
}
