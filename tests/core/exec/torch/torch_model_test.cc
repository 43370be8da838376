#include "core/exec/torch/torch_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/exec/equivalence/compare.h"
#include "core/exec/inputs/find_feed.h"
#include "core/exec/inputs/inputs.h"
#include "core/exec/runtime/exec_error.h"
#include "core/exec/site/oracle_cases.h"
#include "core/exec/tiny_models.h"
#include "core/exec/torch/device_under_test.h"
#include "core/libtorch/cuda.h"
#include "support/models.h"

namespace regraft::exec {
namespace {

using testing::all_cases;
using testing::Case;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::ModelBuilder;
using testing::TempFolder;

constexpr std::uint64_t kSeed = 11;

/// A model's inputs by name, and what ONNX Runtime without its optimiser makes of them.
struct Run {
  std::map<std::string, Tensor> inputs;
  std::vector<Tensor> outputs;
};

Run run_in_onnx_runtime(const std::filesystem::path& path) {
  OrtSession session(path, {Optimisation::none, 1, {}});
  const Feed feed = find_feed(path, {.several = false});
  Rng rng(kSeed, "torch model test");
  const std::vector<Tensor> inputs = feed.source()->draw(session.inputs(), feed.points.at(0).sizes, rng);
  Run run{{}, session.run(inputs)};
  for (std::size_t i = 0; i < inputs.size(); ++i) run.inputs[session.inputs()[i].name] = inputs[i];
  return run;
}

/// On the device under test.
void expect_agreement(const std::filesystem::path& path, double tolerance = 1e-5) {
  const Run expected = run_in_onnx_runtime(path);
  const std::string device = testing::device_under_test();
  if (device == "cuda") tolerance = std::max(tolerance, testing::kTf32Tolerance);
  TorchModel model(path, device, 1, expected.inputs);
  for (int run = 0; run < 2; ++run) {  // the first one after loading leaves out what is known then
    const std::vector<Tensor> outputs = model.run();
    ASSERT_EQ(outputs.size(), expected.outputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const Difference difference = compare(expected.outputs[i], outputs[i]);
      EXPECT_EQ(difference.problem, "") << "seed " << kSeed;
      EXPECT_LE(difference.relative_error, tolerance) << "seed " << kSeed;
    }
  }
}

std::string problem_of(const std::filesystem::path& path, const std::string& device = "cpu") {
  try {
    TorchModel(path, device, 1, run_in_onnx_runtime(path).inputs);
  } catch (const ExecError& error) {
    return error.what();
  }
  return "";
}

class TorchModelOp : public ::testing::TestWithParam<Case> {};

TEST_P(TorchModelOp, AgreesWithOnnxRuntimeOnTheDevice) {
  const TempFolder folder;
  ModelBuilder model;
  GetParam().build(model);
  expect_agreement(model.write(folder / "m.onnx"));
}

INSTANTIATE_TEST_SUITE_P(All, TorchModelOp, ::testing::ValuesIn(all_cases()),
                         [](const auto& test) { return test.param.name; });

class TorchModelFile : public ::testing::TestWithParam<const char*> {};

TEST_P(TorchModelFile, AgreesWithOnnxRuntimeOnTheDevice) {
  expect_agreement(regraft::testing::unpacked_model(GetParam()), 1e-4);
}

INSTANTIATE_TEST_SUITE_P(All, TorchModelFile,
                         ::testing::Values("resnet18", "squeezenet1_1", "nasrnn", "bert_base", "vit_b_16"),
                         [](const auto& test) { return std::string(test.param); });

/// y = x by rows of four, by arithmetic on the sizes of x.
ModelBuilder rows_of_four() {
  ModelBuilder model;
  model.input("x", {"n", 8}).output("y", {"", 4}).integers("four", {4}).integers("any", {-1});
  model.node("Shape", {"x"}, {"sizes"});
  model.node("Div", {"sizes", "four"}, {"quarter"});
  testing::set_int(model.node("Concat", {"any", "four"}, {"rows"}), "axis", 0);
  model.node("Reshape", {"x", "rows"}, {"r"});
  model.node("ConstantOfShape", {"quarter"}, {"zeros"});
  model.node("ReduceSum", {"zeros"}, {"zero"});
  model.node("Add", {"r", "zero"}, {"y"});
  return model;
}

TEST(TorchModel, WhatFollowsFromSizesIsComputedOnceOnTheDevice) {
  const TempFolder folder;
  const auto path = rows_of_four().write(folder / "m.onnx");
  expect_agreement(path);
  TorchModel model(path, testing::device_under_test(), 1, run_in_onnx_runtime(path).inputs);
  std::vector<std::string> values;
  for (const NodeTime& node : model.time_nodes(0.01)) {
    EXPECT_GT(node.us, 0) << node.op;
    values.push_back(node.value);
  }
  EXPECT_THAT(values, ElementsAre("r", "y"));
  expect_agreement(path);
}

TEST(TorchModel, KeepsTheModelsTypesOnTheDevice) {
  const TempFolder folder;
  ModelBuilder model;
  model.input("x", {4}, ::onnx::TensorProto::FLOAT16).output("y", {4}, ::onnx::TensorProto::FLOAT16);
  model.input("i", {2, 3}, ::onnx::TensorProto::INT32).output("s", {2, 1}, ::onnx::TensorProto::INT32);
  model.integers("axes", {1});
  model.node("Mul", {"x", "x"}, {"y"});
  model.node("ReduceSum", {"i", "axes"}, {"s"});
  expect_agreement(model.write(folder / "m.onnx"), 1e-3);
}

TEST(TorchModel, TimesEveryNodeOfARunOnTheDevice) {
  const auto path = regraft::testing::unpacked_model("squeezenet1_1");
  TorchModel model(path, testing::device_under_test(), 1, run_in_onnx_runtime(path).inputs);
  double nodes_us = 0;
  for (const NodeTime& node : model.time_nodes(1)) nodes_us += node.us;
  const double run_us = model.time_runs_ms({2, 5, 5, 0}).at(2) * 1e3;
  EXPECT_GT(nodes_us, run_us / 3);
  EXPECT_LT(nodes_us, run_us * 3);
}

TEST(TorchModel, SaysWhatItCannotRun) {
  const TempFolder folder;
  ModelBuilder model;
  model.input("x", {4}).output("y", {2}).output("i", {2}, ::onnx::TensorProto::INT64).integers("k", {2});
  model.node("TopK", {"x", "k"}, {"y", "i"});
  const auto path = model.write(folder / "m.onnx");
  EXPECT_THAT(problem_of(path), HasSubstr("does not model TopK"));
  EXPECT_THAT(problem_of(path), HasSubstr("use --runtime onnxruntime"));
  const auto sum = testing::affine(2, 1).write(folder / "a.onnx");
  EXPECT_THROW(TorchModel(sum, "cpu", 1, {}), ExecError);
  EXPECT_THROW(TorchModel(sum, "tpu", 1, {}), UsageError);
  if (cuda_problem()) {
    EXPECT_THAT(problem_of(sum, "cuda"), HasSubstr("use --runtime torch-cpu"));
    EXPECT_THROW(torch_version("cuda"), ExecError);
  }
  EXPECT_EQ(torch_version("cpu").substr(0, 2), "2.");
}

}  // namespace
}
