#include "core/exec/latency/kernel_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include <nlohmann/json.hpp>
#include <sstream>

#include "core/base/resource_usage.h"
#include "core/exec/inputs/find_feed.h"
#include "core/exec/runtime/exec_error.h"
#include "core/exec/tiny_models.h"

namespace regraft::exec {
namespace {

using ::testing::HasSubstr;
using testing::ModelBuilder;
using testing::TempFolder;

nlohmann::json kernel(const std::string& node, const std::string& op, double duration_us) {
  return {{"cat", "Node"},
          {"name", node + "_kernel_time"},
          {"dur", duration_us},
          {"args",
           {{"op_name", op},
            {"input_type_shape", {{{"float", {1, 8}}}}},
            {"output_type_shape", {{{"float", {1, 4}}}}}}}};
}

TEST(ParseProfile, TakesMediansAfterTheWarmup) {
  nlohmann::json events = nlohmann::json::array();
  for (int run = 0; run < 4; ++run)
    events.push_back({{"cat", "Session"}, {"name", "model_run"}, {"dur", 1e9}});
  for (const double duration : {1000.0, 70.0, 80.0, 90.0})
    events.push_back(kernel("fc", "FusedGemm", duration));
  for (const double duration : {500.0, 10.0, 20.0, 30.0}) events.push_back(kernel("act", "Erf", duration));
  events.push_back(kernel("loop", "Loop", 1e6));
  std::istringstream file(events.dump());
  const KernelProfile profile = parse_profile(file, 1);
  ASSERT_EQ(profile.kernels.size(), 2u);
  EXPECT_EQ(profile.kernels[0].node, "fc");
  EXPECT_EQ(profile.kernels[0].input_types, std::vector<std::string>{"float[1,8]"});
  EXPECT_DOUBLE_EQ(profile.total_us, 100);
  EXPECT_DOUBLE_EQ(profile.dense_share(), 0.8);
  EXPECT_DOUBLE_EQ(profile.ceiling(), 1.25);
  EXPECT_EQ(profile.by_op()[0].op, "FusedGemm");
  EXPECT_EQ(describe_ceiling(profile),
            "GEMM and convolution kernels take 80.0 % of the time; without all other kernels it would be "
            "1.25x as fast (then Erf 20.0 %)");
}

TEST(ParseProfile, AKernelInABodyCountsAsOftenAsItRan) {
  nlohmann::json events = nlohmann::json::array();
  for (int run = 0; run < 3; ++run) {
    for (int step = 0; step < 4; ++step) events.push_back(kernel("step", "Sin", run == 0 ? 1000 : 5));
    events.push_back({{"cat", "Session"}, {"name", "model_run"}, {"dur", 30}});
  }
  std::istringstream file(events.dump());
  const KernelProfile profile = parse_profile(file, 1);
  ASSERT_EQ(profile.kernels.size(), 1u);
  EXPECT_EQ(profile.kernels[0].executions, 4);
  EXPECT_DOUBLE_EQ(profile.kernels[0].time_us, 20);
}

TEST(DescribeCeiling, SaysSoWhereNothingIsDense) {
  KernelProfile profile;
  profile.kernels = {{"a", "Relu", {}, 3}};
  profile.total_us = 3;
  EXPECT_EQ(describe_ceiling(profile), "no time is in GEMM or convolution kernels (most: Relu 100.0 %)");
}

TEST(ParseProfile, RefusesOtherJson) {
  for (const char* text : {R"([{"cat": "Node", "name": "a_kernel_time"}])", R"({"a": 1})", "[", ""}) {
    std::istringstream file(text);
    EXPECT_THROW(parse_profile(file, 0), ExecError) << text;
  }
}

TEST(ParseProfile, KeepsNoEvents) {
  constexpr int kNodes = 2'000, kRuns = 20;
  std::string text;
  for (int i = 0; i < kNodes * kRuns; ++i)
    text += (i == 0 ? "[" : ",") + kernel("node" + std::to_string(i % kNodes), "Relu", i).dump();
  std::istringstream file(text + "]");
  const std::uint64_t before = peak_rss_bytes();
  EXPECT_EQ(parse_profile(file, 1).kernels.size(), std::size_t{kNodes});
  EXPECT_LT(peak_rss_bytes() - before, 30'000'000u) << "40,000 events take 100 MB and more";
}

TEST(ProfileModel, NamesTheKernelsOfARealRun) {
  const TempFolder folder;
  ModelBuilder model;
  model.input("x", {"batch", 8}).output("y", {"batch", 4}).weight("w", {8, 4}, std::vector<float>(32, 0.5f));
  model.node("MatMul", {"x", "w"}, {"m"});
  model.node("Erf", {"m"}, {"y"});
  ProfileOptions options;
  options.budget_s = 0;
  options.most_other_load = std::numeric_limits<double>::infinity();
  const auto path = model.write(folder / "m.onnx");
  const KernelProfile profile = profile_model(path, find_feed(path, {.bound = {{"batch", {3}}}}), options);
  ASSERT_EQ(profile.kernels.size(), 2u);
  EXPECT_EQ(profile.kernels[0].op, "MatMul");
  EXPECT_EQ(profile.kernels[1].op, "Erf");
  EXPECT_THAT(profile.kernels[1].input_types[0], HasSubstr("[3,4]"));
  EXPECT_FALSE(profile.disturbed);
  options.most_other_load = -1;
  EXPECT_TRUE(profile_model(path, find_feed(path, {.bound = {{"batch", {3}}}}), options).disturbed)
      << "any machine is busier than that";
}

TEST(DenseKernels, AreProductsAndConvolutionsInAnyForm) {
  for (const char* op : {"Gemm", "FusedMatMul", "NhwcFusedConv", "ConvTranspose", "MatMulNBits", "LSTM"}) {
    EXPECT_TRUE(is_dense_kernel(op)) << op;
  }
  for (const char* op : {"Erf", "SkipLayerNormalization", "Transpose", "Concat"})
    EXPECT_FALSE(is_dense_kernel(op)) << op;
}

}  // namespace
}
