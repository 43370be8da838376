#include "core/exec/inputs/find_meanings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/exec/inputs/inputs.h"
#include "core/exec/runtime/ort_session.h"
#include "core/exec/tiny_models.h"

namespace regraft::exec {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::Le;
using testing::ModelBuilder;
using testing::TempFolder;

constexpr int kInt64 = ::onnx::TensorProto::INT64;

class FindMeanings : public ::testing::Test {
 protected:
  InputMeanings find(const ModelBuilder& model) { return find_meanings(model.write(folder_ / "m.onnx")); }

  /// What an input means to its only reader, drawn at these sizes.
  std::vector<std::int64_t> drawn(const ModelBuilder& model, const std::string& input, std::size_t count,
                                  const SymbolSizes& sizes = {}) {
    Rng rng(5, "meanings");
    return draw_meant(find(model).at(input), count, sizes, rng);
  }

  TempFolder folder_;
};

/// One op that reads the integer input n of `count` elements beside x[2, 3, "rows"].
ModelBuilder reader(const std::string& op, int count, int slot = 1,
                    const std::vector<std::string>& more = {}) {
  ModelBuilder model;
  model.input("x", {2, 3, "rows"}).input("n", {count}, kInt64).output("y", {});
  std::vector<std::string> inputs{"x"};
  inputs.insert(inputs.end(), more.begin(), more.end());
  inputs.resize(static_cast<std::size_t>(slot));
  inputs.push_back("n");
  model.node(op, inputs, {"y"});
  return model;
}

TEST_F(FindMeanings, IndicesLieWithinAllAxesThatAreLookedUp) {
  ModelBuilder model;
  model.input("ids", {4}, ::onnx::TensorProto::INT32).integers("axes", {0}).integers("two", {2});
  model.weight("wide", {30, 1}, std::vector<float>(30, 1.0f));
  model.weight("narrow", {5, 1}, std::vector<float>(5, 1.0f));
  testing::set_int(model.node("Cast", {"ids"}, {"long"}), "to", kInt64);
  model.node("Unsqueeze", {"long", "axes"}, {"row"});
  model.node("Gather", {"wide", "row"}, {"a"});
  model.node("Gather", {"narrow", "ids"}, {"b"});
  model.output("a", {1, 4, 1}).output("b", {4, 1});
  EXPECT_THAT(drawn(model, "ids", 200), AllOf(Each(Le(4)), Each(Ge(0)), ::testing::Contains(4)));
}

// Keras gives its embeddings floats, which the model casts.
TEST_F(FindMeanings, FloatsThatAreCastToIndicesAreWhole) {
  ModelBuilder model;
  model.input("ids", {64}).weight("table", {9, 1}, std::vector<float>(9, 1)).output("y", {64, 1});
  testing::set_int(model.node("Cast", {"ids"}, {"whole"}), "to", ::onnx::TensorProto::INT32);
  model.node("Gather", {"table", "whole"}, {"y"});
  EXPECT_THAT(drawn(model, "ids", 200), AllOf(Each(Le(8)), Each(Ge(0)), ::testing::Contains(8)));
  Rng rng(5, "floats");
  const RandomInputs source(find(model));
  const Tensor ids = source.draw(std::vector<ValueInfo>{{"ids", DType::float32, {{64, ""}}}}, {}, rng)[0];
  EXPECT_THAT(ids.as<float>(), AllOf(Each(Le(8)), Each(Ge(0)), ::testing::Contains(8)));
}

TEST_F(FindMeanings, WhatIsAddedBeforeALookUpCounts) {
  ModelBuilder model;
  model.input("positions", {4}, kInt64)
      .integers("two", {2})
      .weight("table", {6, 1}, std::vector<float>(6, 1));
  model.node("Add", {"positions", "two"}, {"moved"});
  model.node("Gather", {"table", "moved"}, {"y"});
  model.output("y", {4, 1});
  EXPECT_THAT(drawn(model, "positions", 200), AllOf(Each(Le(3)), Each(Ge(0)), ::testing::Contains(3)));
}

TEST_F(FindMeanings, ShapesHoldAsManyElements) {
  EXPECT_THAT(drawn(reader("Reshape", 3), "n", 3, {{"rows", 7}}), ElementsAre(2, 3, 7));
  EXPECT_THAT(drawn(reader("Reshape", 2), "n", 2, {{"rows", 7}}), ElementsAre(2, -1));
  EXPECT_THAT(drawn(reader("Reshape", 4), "n", 4, {{"rows", 7}}), ElementsAre(1, 2, 3, 7));
  EXPECT_THAT(drawn(reader("Expand", 4), "n", 4, {{"rows", 7}}), ElementsAre(1, 2, 3, 7));
  EXPECT_THAT(drawn(reader("Expand", 1), "n", 1, {{"rows", 7}}), ElementsAre(7));
}

TEST_F(FindMeanings, AxesLengthsAndPartsAreInBounds) {
  EXPECT_THAT(drawn(reader("CumSum", 1), "n", 1), Each(AllOf(Ge(0), Le(2))));
  EXPECT_THAT(drawn(reader("TopK", 1), "n", 1, {{"rows", 2}}), Each(AllOf(Ge(1), Le(2))));
  EXPECT_THAT(drawn(reader("Split", 2), "n", 2, {{"rows", 7}}), ElementsAre(1, 1));
  EXPECT_THAT(drawn(reader("Tile", 3), "n", 3), Each(AllOf(Ge(1), Le(2))));
  const auto axes = drawn(reader("ReduceSum", 2), "n", 2);
  EXPECT_LT(axes[0], axes[1]);
  EXPECT_THAT(drawn(reader("Unsqueeze", 1), "n", 1), Each(AllOf(Ge(0), Le(3))));
}

TEST_F(FindMeanings, AnElementOfAShapeIsTakenFromItsPlace) {
  ModelBuilder model;
  model.input("x", {2, "rows", 3}).input("n", {1}, kInt64).output("y", {});
  model.integers("two", {2}).integers("three", {3});
  testing::set_int(model.node("Concat", {"two", "n", "three"}, {"shape"}), "axis", 0);
  model.node("Reshape", {"x", "shape"}, {"y"});
  EXPECT_THAT(drawn(model, "n", 1, {{"rows", 9}}), ElementsAre(9));
}

TEST_F(FindMeanings, NumbersThatMakeADifferenceAreChosenFrom) {
  ModelBuilder model;
  model.input("rate", {1}, kInt64)
      .input("x", {1})
      .output("y", {1})
      .integers("fast", {16000})
      .integers("slow", {8000});
  model.node("Equal", {"rate", "fast"}, {"is_fast"});
  model.node("Equal", {"slow", "rate"}, {"is_slow"});
  model.node("Or", {"is_fast", "is_slow"}, {"known"});
  model.node("Where", {"known", "x", "x"}, {"y"});
  const InputMeanings meanings = find(model);
  EXPECT_EQ(meanings.at("rate").meaning, Meaning::choice);
  EXPECT_THAT(meanings.at("rate").values, ::testing::UnorderedElementsAre(16000, 8000));
  EXPECT_FALSE(meanings.contains("x"));
}

TEST_F(FindMeanings, MasksOfScoresAreKnownByTheirNameOrTheirBroadcast) {
  const auto masked = [&](const std::string& name, int columns) {
    ModelBuilder model;
    model.input("q", {1, 4, 8, 16}).input("k", {1, 4, 16, 8}).input(name, {1, 1, 8, columns}).output("y", {});
    model.node("MatMul", {"q", "k"}, {"s"});
    model.node("Add", {"s", name}, {"a"});
    model.node("Softmax", {"a"}, {"y"});
    return find(model);
  };
  EXPECT_EQ(masked("m", 8).at("m").meaning, Meaning::score_mask);
  EXPECT_EQ(masked("m", 1).at("m").meaning, Meaning::score_mask);
  EXPECT_FALSE(masked("m", 8).contains("q"));
}

TEST_F(FindMeanings, ReadersInsideBodiesCount) {
  ModelBuilder model;
  model.input("x", {2, 3}).input("n", {2}, kInt64).input("b", {}, ::onnx::TensorProto::BOOL).output("y", {});
  ::onnx::NodeProto& branch = model.node("If", {"b"}, {"y"});
  for (const char* name : {"then_branch", "else_branch"}) {
    ::onnx::GraphProto& body =
        *onnx::test::add_attribute(branch, name, ::onnx::AttributeProto::GRAPH).mutable_g();
    body.set_name(name);
    ::onnx::NodeProto& node = *body.add_node();
    node.set_op_type("Reshape");
    node.add_input("x");
    node.add_input("n");
    node.add_output(name);
    body.add_output()->set_name(name);
  }
  EXPECT_THAT(drawn(model, "n", 2), ElementsAre(2, 3));
}

/// The runtime is the judge, for the ops whose other inputs must fit.
TEST_F(FindMeanings, ScalesPlacesAndLengthsRun) {
  const auto runs = [&](const ModelBuilder& model) {
    const auto path = model.write(folder_ / "m.onnx");
    const RandomInputs inputs(find_meanings(path));
    OrtSession session(path, {Optimisation::none, 1, {}});
    Rng rng(1, "readers");
    for (int draw = 0; draw < 10; ++draw) session.run(inputs.draw(session.inputs(), {}, rng));
  };
  ModelBuilder resize;
  resize.input("x", {1, 3, 8, 8}).input("scales", {4}).output("y", {1, 3, 8, 8});
  testing::set_text(resize.node("Resize", {"x", "", "scales"}, {"y"}), "mode", "cubic");
  EXPECT_NO_THROW(runs(resize)) << "scales of exactly 1 on the outer axes";

  ModelBuilder columns;
  columns.opset(18).input("x", {1, 5, 6}).input("image", {2}, kInt64).input("block", {2}, kInt64);
  ::onnx::NodeProto& node = columns.output("y", {}).node("Col2Im", {"x", "image", "block"}, {"y"});
  columns.output_type(0).mutable_tensor_type()->clear_shape();
  testing::set_ints(node, "pads", {1, 0, 1, 0});
  testing::set_ints(node, "strides", {2, 1});
  EXPECT_NO_THROW(runs(columns));
  EXPECT_THAT(drawn(columns, "image", 2), ElementsAre(1, 3))
      << "2 x 3 places, a stride of 2, two rows of padding";

  ModelBuilder unpool;
  unpool.input("x", {1, 2, 3, 3}).input("at", {1, 2, 3, 3}, kInt64).input("shape", {4}, kInt64);
  testing::set_ints(unpool.output("y", {}).node("MaxUnpool", {"x", "at", "shape"}, {"y"}), "kernel_shape",
                    {2, 2});
  testing::set_ints(*unpool.graph().mutable_node(0), "strides", {2, 2});
  unpool.output_type(0).mutable_tensor_type()->clear_shape();
  EXPECT_THAT(drawn(unpool, "shape", 4), ElementsAre(1, 2, 6, 6));
  EXPECT_NO_THROW(runs(unpool));
}

TEST_F(FindMeanings, ZeroPointsOfFloatsAndWideIntegersAreZero) {
  const auto zero_point = [&](DType dtype) {
    const int number = static_cast<int>(dtype);
    ModelBuilder model;
    model.opset(21).input("x", {40}, number).input("scale", {}).input("zero", {40}, number).output("y", {40});
    model.node("DequantizeLinear", {"x", "scale", "zero"}, {"y"});
    const std::vector<ValueInfo> zero{{"zero", dtype, {{40, ""}}}};
    Rng rng(5, "meanings");
    return RandomInputs(find(model)).draw(zero, {}, rng).at(0).bytes;
  };
  EXPECT_THAT(zero_point(DType::float8e5m2), Each(std::byte{0}));
  EXPECT_THAT(zero_point(DType::int32), Each(std::byte{0}));
  EXPECT_THAT(zero_point(DType::uint8), ::testing::Contains(Ge(std::byte{100})));
  EXPECT_THAT(zero_point(DType::int4), ::testing::Contains(Ge(std::byte{16})));
}

TEST_F(FindMeanings, GoThroughJson) {
  const InputMeanings meanings = find(reader("TopK", 1));
  EXPECT_EQ(meanings_from_json(to_json(meanings)), meanings);
  EXPECT_THAT(meanings, ::testing::SizeIs(1));
}

/// What is drawn runs: the runtime is the judge.
TEST_F(FindMeanings, WhatIsDrawnForAReaderRuns) {
  struct Case {
    std::string op;
    int count, slot;
    std::vector<std::string> more;
  };
  for (const Case& one : std::vector<Case>{
           {"Reshape", 1, 1, {}},
           {"Reshape", 5, 1, {}},
           {"Expand", 3, 1, {}},
           {"Tile", 3, 1, {}},
           {"Pad", 6, 1, {}},
           {"ReduceSum", 2, 1, {}},
           {"Unsqueeze", 2, 1, {}},
           {"Resize", 3, 3, {"", ""}},
           {"CumSum", 1, 1, {}},
           {"Split", 1, 1, {}},
       }) {
    ModelBuilder model = reader(one.op, one.count, one.slot, one.more);
    const auto path = model.write(folder_ / "m.onnx");
    const RandomInputs inputs(find_meanings(path));
    OrtSession session(path, {Optimisation::none, 1, {}});
    Rng rng(1, "readers");
    for (int draw = 0; draw < 10; ++draw)
      EXPECT_NO_THROW(session.run(inputs.draw(session.inputs(), {{"rows", 4}}, rng))) << one.op;
  }
}

}  // namespace
}
