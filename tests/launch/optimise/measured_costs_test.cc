#include "launch/optimise/measured_costs.h"

#include <gmock/gmock.h>

#include "core/base/atomic_file.h"
#include "core/exec/tiny_models.h"

namespace regraft::launch {
namespace {

class MeasuredCostsTest : public ::testing::Test {
 protected:
  MeasuredCostsTest() { options_.database = dir_.path() / "kernels.sqlite"; }
  static std::filesystem::path write_model(const std::filesystem::path& file) {
    exec::testing::ModelBuilder model;
    model.node("Exp", {"x"}, {"y"});
    model.input("x", {64}).output("y", {64});
    return model.write(file);
  }
  static exec::Feed at_its_sizes() {
    exec::Feed feed;
    feed.points.resize(1);
    return feed;
  }
  MeasuredCosts make() { return {options_, dir_.path() / "feed", start_, costs_}; }

  TempDir dir_;
  OptimiseOptions options_;
  const onnx::ImportedModel model_ = onnx::import_model(write_model(dir_.path() / "m.onnx"));
  const ModelGraphs start_{model_};
  const exec::Feed feed_ = at_its_sizes();
  PointCosts costs_{model_, feed_, options_.device_profile(), start_};
};

TEST_F(MeasuredCostsTest, ADatabaseThatCannotBeUsedIsAWarningWhereItIsAskedFor) {
  write_file_atomic(options_.database, "no database");
  options_.costs = "device";
  EXPECT_FALSE(make().corrects());
  EXPECT_TRUE(read_file(options_.database) == "no database") << "not asked for";
  options_.costs = "alone";
  ::testing::internal::CaptureStderr();
  EXPECT_TRUE(make().corrects());
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), ::testing::HasSubstr("regraft: warning: "));
}

}  // namespace
}  // namespace regraft::launch
