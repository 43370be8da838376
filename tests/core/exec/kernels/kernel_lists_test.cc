#include "core/exec/kernels/kernel_lists.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/exec/inputs/find_feed.h"
#include "core/exec/runtime/exec_error.h"
#include "core/exec/tiny_models.h"
#include "core/onnx/import.h"

namespace regraft::exec {
namespace {

using testing::ModelBuilder;
using testing::TempFolder;

const cost::DeviceProfile& device() {
  static const cost::DeviceProfile device =
      cost::load_device(std::string(REGRAFT_SOURCE_DIR) + "/configs/devices/cpu-1core.toml");
  return device;
}

KernelLists compare(const std::filesystem::path& file) {
  return compare_kernels(file, find_feed(file, {.several = false}), device(), {.budget_s = 0.2});
}

/// Two convolutions with a Relu and an addition between them, then a product with a bias and a Gelu in parts.
std::filesystem::path write_model(const std::filesystem::path& file) {
  ModelBuilder model;
  model.weight("W", {16, 16, 3, 3}, std::vector<float>(16 * 16 * 9, 0.01f));
  model.weight("P", {24, 64}, std::vector<float>(24 * 64, 0.02f));
  model.weight("B", {64}, std::vector<float>(64, 0.1f));
  model.weight("root", {}, {1.41421354f});
  model.weight("one", {}, {1});
  model.weight("half", {}, {0.5f});
  model.input("image", {1, 16, 24, 24});
  const auto conv = [&](const char* in, const char* out) {
    testing::set_ints(model.node("Conv", {in, "W"}, {out}), "pads", {1, 1, 1, 1});
  };
  conv("image", "first");
  model.node("Relu", {"first"}, {"rectified"});
  conv("rectified", "second");
  model.node("Add", {"second", "rectified"}, {"sum"});
  model.node("MatMul", {"sum", "P"}, {"product"});
  model.node("Add", {"product", "B"}, {"biased"});
  model.node("Div", {"biased", "root"}, {"scaled"});
  model.node("Erf", {"scaled"}, {"erf"});
  model.node("Add", {"erf", "one"}, {"plus_one"});
  model.node("Mul", {"biased", "plus_one"}, {"gate"});
  model.node("Mul", {"gate", "half"}, {"out"});
  model.output("out", {1, 16, 24, 64});
  return model.write(file);
}

const ComparedKernel& kernel_of(const KernelLists& lists, std::string_view kind) {
  for (const ComparedKernel& one : lists.compared)
    if (one.predicted.features.kernel_kind() == kind) return one;
  throw std::out_of_range(std::string(kind));
}

TEST(KernelLists, FusedAndBlockedKernelsStandForTheirNodes) {
  const TempFolder folder;
  const KernelLists lists = compare(write_model(folder / "m.onnx"));
  EXPECT_GT(lists.agreed_share(), 0.99);
  EXPECT_EQ(lists.profile.kernels[kernel_of(lists, "Gelu float32").launched.at(0)].op, "Gelu");
  EXPECT_EQ(kernel_of(lists, "Gelu float32").predicted.nodes.size(), 5u);
  EXPECT_TRUE(lists.agrees(kernel_of(lists, "Conv blocked float32")));
  EXPECT_TRUE(lists.agrees(kernel_of(lists, "Conv reorder float32")));
  EXPECT_TRUE(lists.agrees(kernel_of(lists, "MatMul constant_operand float32")));
}

/// The runtime pads eight channels where its blocks are wider, so that sizes do not tell.
TEST(KernelLists, MovesOutOfTheLayoutAreKnownByTheirValues) {
  const TempFolder folder;
  ModelBuilder model;
  model.weight("W", {8, 16, 3, 3}, std::vector<float>(8 * 16 * 9, 0.01f));
  model.input("x", {1, 16, 24, 24}).input("z", {1, 16, 24, 24});
  for (const char* from : {"x", "z"}) {
    model.node("Conv", {from, "W"}, {std::string("conv_of_") + from});
    model.node("Sin", {std::string("conv_of_") + from}, {std::string("of_") + from});
    model.output(std::string("of_") + from, {1, 8, 22, 22});
  }
  const KernelLists lists = compare(model.write(folder / "m.onnx"));
  int moves = 0;
  for (const ComparedKernel& one : lists.compared) {
    if (one.predicted.features.form != cost::KernelForm::reorder || !one.value.starts_with("conv_of_"))
      continue;
    ASSERT_EQ(one.launched.size(), 1u) << one.value;
    EXPECT_THAT(lists.profile.kernels[one.launched[0]].outputs, ::testing::ElementsAre(one.value));
    ++moves;
  }
  EXPECT_EQ(moves, 2);
}

TEST(KernelLists, OpsThatRewritesLeaveAloneAreKindsOfTheirOwn) {
  const TempFolder folder;
  ModelBuilder model;
  model.weight("W", {1, 16, 8}, std::vector<float>(16 * 8, 0.01f));
  model.weight("R", {1, 16, 16}, std::vector<float>(16 * 16, 0.02f));
  model.input("x", {20, 1, 8});
  testing::set_int(model.node("RNN", {"x", "W", "R"}, {"h"}), "hidden_size", 16);
  model.node("Selu", {"h"}, {"y"});
  model.output("y", {20, 1, 1, 16});
  const KernelLists lists = compare(model.write(folder / "m.onnx"));
  EXPECT_EQ(lists.agreed_share(), 1);
  EXPECT_EQ(lists.profile.kernels[kernel_of(lists, "Opaque RNN float32").launched.at(0)].op, "RNN");
  EXPECT_EQ(lists.profile.kernels[kernel_of(lists, "Opaque Selu float32").launched.at(0)].op, "Selu");
  ASSERT_EQ(lists.samples().size(), 2u);
  EXPECT_EQ(samples_from_json(to_json(lists.samples())), lists.samples());
}

TEST(KernelLists, NodesWithoutNamesAreFoundToo) {
  const TempFolder folder;
  ModelBuilder model;
  model.input("x", {64, 64});
  model.node("Exp", {"x"}, {"e"});
  model.node("Neg", {"e"}, {"n"});
  model.node("Sin", {"n"}, {"y"});
  model.output("y", {64, 64});
  const KernelLists lists = compare(model.write(folder / "m.onnx"));
  EXPECT_EQ(lists.agreed_share(), 1);
  EXPECT_EQ(lists.samples().size(), 3u);
}

TEST(KernelLists, KernelsOfUnknownSizesTeachThisModelAlone) {
  const TempFolder folder;
  ModelBuilder model;
  model.input("x", {64, 64});
  model.node("Exp", {"x"}, {"e"});
  model.node("Neg", {"e"}, {"n"});
  model.node("NonZero", {"n"}, {"places"});  // as many as the values say
  model.node("Neg", {"places"}, {"m"});
  model.node("ReduceSum", {"m"}, {"y"});
  model.output("y", {1, 1}, ::onnx::TensorProto::INT64);
  const auto file = model.write(folder / "m.onnx");
  Feed feed = find_feed(file, {.several = false});
  feed.points[0].inner.clear();
  const KernelLists lists = compare_kernels(file, feed, device(), {.budget_s = 0.2});
  std::map<std::string, cost::KernelSource> sources;
  for (const cost::KernelSample& sample : lists.samples())
    sources[sample.features.kernel_kind()] = sample.source;
  EXPECT_EQ(sources.at("Exp float32"), cost::KernelSource::this_model);
  EXPECT_EQ(sources.at("Neg int64"), cost::KernelSource::unsized);
}

/// A loop of five steps of a sine, then a choice by a value: the branch that is taken adds exponentials.
std::filesystem::path write_bodies(const std::filesystem::path& file, const char* name_in_else) {
  using ::onnx::TensorProto;
  ModelBuilder model, step, taken, other;
  step.input("i", {}, TensorProto::INT64).input("on", {}, TensorProto::BOOL).input("h", {64, 64});
  step.node("Identity", {"on"}, {"goes_on"});
  step.node("Sin", {"h"}, {"next"});
  step.output("goes_on", {}, TensorProto::BOOL).output("next", {64, 64});
  taken.node("Exp", {"last"}, {"e"});
  taken.node("Neg", {"e"}, {"n"});
  taken.output("n", {64, 64});
  other.node("Cos", {"last"}, {name_in_else});
  other.output(name_in_else, {64, 64});
  model.input("x", {64, 64}).integers("steps", {5}).weight("least", {}, {-1});
  ModelBuilder::set_body(model.node("Loop", {"steps", "", "x"}, {"last"}), "body", std::move(step));
  model.node("Abs", {"last"}, {"size"});
  testing::set_int(model.node("ReduceMax", {"size"}, {"largest"}), "keepdims", 0);
  model.node("Greater", {"largest", "least"}, {"chosen"});
  ::onnx::NodeProto& choice = model.node("If", {"chosen"}, {"y"});
  ModelBuilder::set_body(choice, "then_branch", std::move(taken));
  ModelBuilder::set_body(choice, "else_branch", std::move(other));
  model.output("y", {64, 64});
  return model.write(file);
}

std::map<std::string, double> measured_us(const KernelLists& lists) {
  std::map<std::string, double> measured;
  for (const cost::KernelSample& sample : lists.samples())
    EXPECT_TRUE(measured.emplace(sample.features.kernel_kind(), sample.measured_us).second);
  return measured;
}

TEST(KernelLists, KernelsOfBodiesTeachWhatOneExecutionTakes) {
  const TempFolder folder;
  const KernelLists lists = compare(write_bodies(folder / "m.onnx", "c"));
  const std::map<std::string, double> measured = measured_us(lists);
  EXPECT_TRUE(measured.contains("Exp float32") && measured.contains("Neg float32"));
  EXPECT_FALSE(measured.contains("Cos float32")) << "that branch did not run";
  const KernelTime& sine = lists.profile.kernels[kernel_of(lists, "Sin float32").launched.at(0)];
  EXPECT_EQ(sine.executions, 5);
  EXPECT_NEAR(measured.at("Sin float32"), sine.time_us / 5, 1e-9);
  double sum_us = 0;
  for (const KernelTime& kernel : lists.profile.kernels) sum_us += kernel.time_us;
  EXPECT_LE(sum_us, lists.profile.run_us * (1 + 1e-9)) << "the rest is of the ops around bodies";
  EXPECT_THAT(lists.graph_runs, ::testing::ElementsAre(1, 5, 1, 0)) << "main graph, loop, and both branches";
}

TEST(KernelLists, AValueThatTwoBodiesNameAlikeTeachesNothing) {
  const TempFolder folder;
  const KernelLists lists = compare(write_bodies(folder / "m.onnx", "e"));
  EXPECT_EQ(lists.graph_runs.at(3), std::nullopt) << "its only kernel may be the other body's";
  const std::map<std::string, double> measured = measured_us(lists);
  EXPECT_FALSE(measured.contains("Exp float32"));
  EXPECT_TRUE(measured.contains("Neg float32"));
}

/// A norm of a sum of rows; the shape of one operand may be computed.
std::filesystem::path write_norm(const std::filesystem::path& file, bool static_shape, bool computed) {
  ModelBuilder model;
  model.weight("S", {64}, std::vector<float>(64, 0.5f));
  if (static_shape)
    model.input("x", {1, 8, 64});
  else
    model.input("x", {"batch", "rows", 64});
  model.node("Neg", {"x"}, {"negated"});
  model.node("Shape", {"x"}, {"shape"});
  model.node("Reshape", {"negated", "shape"}, {"reshaped"});
  model.node("Add", {"x", computed ? "reshaped" : "negated"}, {"sum"});
  model.node("LayerNormalization", {"sum", "S", "S"}, {"y"});
  model.output("y", {"batch", "rows", 64});
  return model.write(file);
}

TEST(KernelLists, WhetherTheRuntimeKnowsThatSymbolsAreEqualIsSeen) {
  const TempFolder folder;
  EXPECT_TRUE(compare(write_norm(folder / "plain.onnx", false, false)).infers_symbols);
  EXPECT_FALSE(compare(write_norm(folder / "computed.onnx", false, true)).infers_symbols);
  EXPECT_FALSE(compare(write_norm(folder / "static.onnx", true, false)).infers_symbols);
}

TEST(KernelLists, HalfPrecisionIsKnownWhereTheRuntimeWidensIt) {
  const TempFolder folder;
  ModelBuilder model;
  model.weight("W", {16, 16, 3, 3}, std::vector<float>(16 * 16 * 9, 0.01f));
  model.input("x", {1, 16, 24, 24});
  const auto half = [&](const std::string& value) {
    testing::set_int(model.node("Cast", {value}, {value + "16"}), "to", ::onnx::TensorProto::FLOAT16);
  };
  half("x");
  half("W");
  model.node("Conv", {"x16", "W16"}, {"c"});
  model.node("Exp", {"c"}, {"y"});
  model.output("y", {1, 16, 22, 22}, ::onnx::TensorProto::FLOAT16);
  const KernelLists lists = compare(model.write(folder / "m.onnx"));
  const ComparedKernel& conv = kernel_of(lists, "Conv float16");
  ASSERT_EQ(conv.launched.size(), 1u);
  EXPECT_EQ(lists.profile.kernels[conv.launched[0]].op, "Conv");
}

TEST(KernelLists, TimesAddUpToARunWithoutTheProfiler) {
  const TempFolder folder;
  const KernelLists lists = compare(write_model(folder / "m.onnx"));
  double sum_us = 0;
  for (const KernelTime& kernel : lists.profile.kernels) sum_us += kernel.time_us;
  EXPECT_GT(sum_us, 0);
  EXPECT_NEAR(sum_us, lists.profile.run_us, 1e-6 * sum_us);
  EXPECT_NEAR(lists.profile.total_us, sum_us, 1e-6 * sum_us);
}

TEST(KernelLists, CorrectedByItsOwnKernelsAModelIsPredictedAsMeasured) {
  const TempFolder folder;
  const auto file = write_model(folder / "m.onnx");
  const KernelLists lists = compare(file);
  cost::DeviceProfile corrected = device();
  corrected.measured = std::make_shared<cost::MeasuredKernels>(lists.samples());
  const onnx::ImportedModel model = onnx::import_model(file);
  const graph::Bindings bindings;
  const double predicted_us = cost::AnalyticCost(corrected, bindings, model.graph()).latency_us();
  EXPECT_NEAR(predicted_us / lists.profile.run_us, 1, 0.05);
}

TEST(KernelLists, WhatOnlyTheRuntimeHasDoesNotAgree) {
  KernelLists lists;
  lists.profile.kernels = {
      {"a", "Conv", {}, 30}, {"b", "Transpose", {}, 60}, {"c", "Reshape", {}, 10}, {"d", "Reshape", {}, 10}};
  lists.compared.push_back({"a", {.nodes = {}, .us = 20}, {0, 3}, 40});
  lists.compared.push_back({"gone", {.nodes = {}, .us = 5}, {}, 0});
  lists.unexpected = {1, 2};
  EXPECT_NEAR(lists.agreed_share(), 30.0 / 90, 1e-9) << "reshapes move nothing";
  EXPECT_EQ(lists.predicted_us(), 25);
}

/// Two products that the runtime does in one kernel, then a Softmax.
TEST(KernelLists, AKernelOfSeveralIsSharedByThemAsTheyWerePredicted) {
  const TempFolder folder;
  ModelBuilder model;
  model.weight("W", {64, 64}, std::vector<float>(64 * 64, 0.01f));
  model.weight("V", {64, 128}, std::vector<float>(64 * 128, 0.01f));
  model.input("x", {8, 64});
  model.node("MatMul", {"x", "W"}, {"a"});
  model.node("MatMul", {"a", "V"}, {"b"});
  model.node("Softmax", {"b"}, {"c"});
  model.output("c", {8, 128});
  const auto file = model.write(folder / "m.onnx");
  KernelProfile profile{.kernels = {{"", "Subgraph", {}, 30}, {"", "Softmax", {}, 10}}, .total_us = 40};
  profile.run_us = 40;
  profile.kernels[0].within = {"a", "W", "b"};
  profile.kernels[1].within = {"c"};
  const KernelLists lists =
      compare_profile(file, find_feed(file, {.several = false}), device(), std::move(profile));
  ASSERT_EQ(lists.compared.size(), 3u);
  EXPECT_TRUE(lists.unexpected.empty());
  const auto& [a, b, c] = std::tie(lists.compared[0], lists.compared[1], lists.compared[2]);
  EXPECT_NEAR(a.launched_us + b.launched_us, 30, 1e-9);
  EXPECT_NEAR(b.launched_us / a.launched_us, b.predicted.us / a.predicted.us, 1e-9);
  EXPECT_FALSE(lists.agrees(a) || lists.agrees(b));
  EXPECT_TRUE(lists.agrees(c));
  EXPECT_NEAR(lists.agreed_share(), 0.25, 1e-9);
  ASSERT_EQ(lists.samples().size(), 3u);
  EXPECT_NEAR(lists.corrected_us, 40, 4);
}

TEST(KernelLists, SamplesLeaveOutWhatAKernelDoesOnItsWayOut) {
  KernelLists lists;
  lists.profile.kernels = {{"a", "FusedConv", {}, 30}};
  lists.compared.push_back({"a", {.nodes = {}, .analytic_us = 16, .corrected_us = 16, .us = 20}, {0}, 30});
  lists.compared.push_back({"view", {.nodes = {}, .view = true, .us = 1}, {0}, 30});
  lists.compared.push_back(
      {"not launched", {.nodes = {}, .analytic_us = 16, .corrected_us = 16, .us = 20}, {}, 0});
  ASSERT_EQ(lists.samples().size(), 1u);
  EXPECT_EQ(lists.samples()[0].analytic_us, 16);
  EXPECT_EQ(lists.samples()[0].measured_us, 26);
}

TEST(KernelSamples, GoThroughJson) {
  const std::vector<cost::KernelSample> samples{
      {{graph::OpKind::conv, cost::KernelForm::grouped, graph::DType::float16, {1, 2, 3, 4, 5, 6}},
       1.5,
       2.5,
       cost::KernelSource::unsized}};
  EXPECT_EQ(samples_from_json(nlohmann::json::parse(to_json(samples).dump())), samples);
}

TEST(KernelSamples, OtherJsonIsRefused) {
  for (const char* text : {"[{}]", R"([{"op": "Conv", "form": "round", "dtype": 1, "sizes": [0,0,0,0,0,0],
                                       "analytic_us": 1, "measured_us": 1, "source": "this_model"}])",
                           "[1]"})
    EXPECT_THROW(samples_from_json(nlohmann::json::parse(text)), ExecError) << text;
}

}  // namespace
}
