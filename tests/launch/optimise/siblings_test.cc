// Rewrites whose constants are as long as a list of siblings is: 32 integers are 256 bytes.
#include <gmock/gmock.h>

#include "core/base/atomic_file.h"
#include "core/onnx/model_builder.h"
#include "launch/program.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;
using onnx::test::ModelBuilder;
using testing::json_of;
using testing::run;

class Siblings : public ::testing::TestWithParam<int> {
 protected:
  /// Optimises by prediction; every site and the whole model are checked.
  void expect_rewritten(const ModelBuilder& builder) {
    const fs::path model = dir_.path() / "m.onnx", json = dir_.path() / "r.json";
    write_file_atomic(model, builder.bytes());
    const Captured result =
        run({"optimise", model.string(), "-o", (dir_.path() / "out.onnx").string(), "--search", "greedy",
             "--accept", "cost", "--quiet", "--json", json.string()});
    ASSERT_EQ(result.status.code, 0) << result.errors;
    const nlohmann::json report = json_of(json);
    EXPECT_TRUE(report.at("accepted")) << report.at("reason");
    EXPECT_TRUE(report.at("verified"));
    EXPECT_LT(report.at("nodes_after"), report.at("nodes_before"));
  }
  TempDir dir_;
};

TEST_P(Siblings, MatrixProducts) {
  ModelBuilder builder;
  builder.input("x", {"8", "64"});
  for (int i = 0; i < GetParam(); ++i) {
    const std::string n = std::to_string(i);
    builder.floats("w" + n, {64, 16}, 0.1f * static_cast<float>(i)).output("y" + n, {"8", "16"});
    builder.node("MatMul", {"x", "w" + n}, {"y" + n});
  }
  expect_rewritten(builder);
}

TEST_P(Siblings, Convolutions) {
  ModelBuilder builder;
  builder.input("x", {"1", "8", "6", "6"});
  for (int i = 0; i < GetParam(); ++i) {
    const std::string n = std::to_string(i);
    builder.floats("w" + n, {4, 8, 1, 1}, 0.1f * static_cast<float>(i)).output("y" + n, {"1", "4", "6", "6"});
    builder.node("Conv", {"x", "w" + n}, {"y" + n});
  }
  expect_rewritten(builder);
}

/// As recurrent networks are written that are unrolled over the steps of a sequence.
TEST_P(Siblings, SlicesOfAnAxis) {
  const std::string steps = std::to_string(GetParam());
  ModelBuilder builder;
  builder.input("x", {steps, "8"}).ints("axis", {0});
  for (int i = 0; i < GetParam(); ++i) {
    const std::string n = std::to_string(i);
    builder.ints("from" + n, {i}).ints("to" + n, {i + 1}).output("y" + n, {"1", "8"});
    builder.node("Slice", {"x", "from" + n, "to" + n, "axis"}, {"s" + n});
    builder.node("Relu", {"s" + n}, {"y" + n});
  }
  expect_rewritten(builder);
}

INSTANTIATE_TEST_SUITE_P(Counts, Siblings, ::testing::Values(31, 32, 33, 100));

}  // namespace
}
