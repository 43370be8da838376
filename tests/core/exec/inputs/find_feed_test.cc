#include "core/exec/inputs/find_feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "core/base/error.h"
#include "core/exec/runtime/exec_error.h"
#include "core/exec/runtime/ort_session.h"
#include "core/exec/tiny_models.h"

namespace regraft::exec {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ModelBuilder;
using ::testing::SizeIs;
using testing::TempFolder;

constexpr int kInt64 = ::onnx::TensorProto::INT64;

class FindFeed : public ::testing::Test {
 protected:
  Feed find(const ModelBuilder& model, const FeedRequest& request = {}) {
    return find_feed(model.write(folder_ / "m.onnx"), request);
  }
  std::string refusal(const ModelBuilder& model, const FeedRequest& request) {
    try {
      find(model, request);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }
  std::filesystem::path path() const { return folder_ / "m.onnx"; }

  TempFolder folder_;
};

/// Two strided convolutions without padding: an image must be at least 7 by 7.
ModelBuilder dynamic_image(const ModelBuilder::Axis& height, const ModelBuilder::Axis& width) {
  ModelBuilder model;
  model.input("x", {"N", 3, height, width}).output("y", {"N", 2, "h", "w"});
  model.weight("w", {4, 3, 3, 3}, std::vector<float>(108, 0.1f))
      .weight("u", {2, 4, 3, 3}, std::vector<float>(72, 0.1f));
  for (const auto& [from, weight, to] : {std::tuple{"x", "w", "a"}, std::tuple{"a", "u", "y"}})
    testing::set_ints(model.node("Conv", {from, weight}, {to}), "strides", {2, 2});
  return model;
}

// As some runtimes refuse dilations with padding of kind SAME.
TEST_F(FindFeed, GivesUpSoonWhereNoSizeMakesADifference) {
  ModelBuilder model = dynamic_image("H", "W");
  ::onnx::NodeProto& node = *model.graph().mutable_node(0);
  testing::set_text(node, "auto_pad", "SAME_UPPER");
  testing::set_ints(node, "dilations", {2, 2});
  int asked = 0;
  const Feed feed = find(model, {.clock = [&asked] { return ++asked, 0.0; }});
  EXPECT_FALSE(feed.runs());
  EXPECT_THAT(feed.problem, HasSubstr("Dilation not supported"));
  EXPECT_LT(asked, 100) << "about twice for each time that it was tried";
}

TEST_F(FindFeed, TakesUsualSizesAndSaysWhy) {
  const Feed feed = find(dynamic_image("H", "W"));
  EXPECT_THAT(feed.taken,
              ElementsAre(TakenSize{"N", 1, "usual batch"}, TakenSize{"H", 224, "usual image size"},
                          TakenSize{"W", 224, "usual image size"}));
  ASSERT_THAT(feed.points, SizeIs(3));
  EXPECT_EQ(feed.points[1].sizes, (SymbolSizes{{"N", 1}, {"H", 112}, {"W", 112}}))
      << "a quarter of the pixels";
  EXPECT_EQ(feed.points[2].sizes, (SymbolSizes{{"N", 1}, {"H", 448}, {"W", 448}}));
}

// Keras writes a recording or a series so: samples, then one channel.
TEST_F(FindFeed, OneChannelAtTheEndIsNoColour) {
  for (const auto& [axes, taken] :
       {std::pair{std::vector<ModelBuilder::Axis>{"n", 43844, 1}, "usual batch"},
        std::pair{std::vector<ModelBuilder::Axis>{"n", 8, 1}, "usual batch"},
        std::pair{std::vector<ModelBuilder::Axis>{"n", 8, 3}, "usual image size"}}) {
    ModelBuilder model;
    model.input("x", axes).output("y", axes);
    model.node("Relu", {"x"}, {"y"});
    EXPECT_EQ(find(model).taken.at(0).why, taken);
  }
}

TEST_F(FindFeed, DimsWithoutANameAreCalledByTheirInputAndAxis) {
  const Feed feed = find(dynamic_image("", ""));
  ASSERT_THAT(feed.taken, SizeIs(3));
  EXPECT_EQ(feed.taken[1].dim, "x.2");
  EXPECT_EQ(find(dynamic_image("", ""), {.bound = {{"x.3", {64}}}}).points[0].sizes.at("x.3"), 64);
}

TEST_F(FindFeed, GoesDownTheLadderToWhatRuns) {
  ModelBuilder model = dynamic_image("H", "W");  // of 32 by 32 alone: 7 * 7 * 2 = 98
  model.integers("shape", {1, 98});
  model.node("Reshape", {"y", "shape"}, {"z"});
  model.output("z", {"N", 98});
  const Feed feed = find(model);
  ASSERT_TRUE(feed.runs()) << feed.problem;
  EXPECT_EQ(feed.taken[1].size, 32);
  EXPECT_THAT(feed.taken[1].why, HasSubstr("the first that runs"));
}

TEST_F(FindFeed, OnlyTheDimThatAsksForItLeavesItsUsualSize) {
  ModelBuilder model;  // a height of at most 48, as readers of text lines have
  model.input("x", {1, 1, "height", "width"}).output("y", {1, 1, 48, "width"});
  model.weight("scale", {48, 1}, std::vector<float>(48, 1));
  model.node("Mul", {"x", "scale"}, {"y"});
  const Feed feed = find(model);
  ASSERT_TRUE(feed.runs()) << feed.problem;
  EXPECT_EQ(feed.points[0].sizes, (SymbolSizes{{"height", 48}, {"width", 224}}));
}

TEST_F(FindFeed, TheStateOfARecurrentLayerHasABatch) {
  ModelBuilder model;
  model.input("input", {"", 8}).input("state", {2, "", 8}).output("y", {2, "", 8});
  model.node("Add", {"state", "input"}, {"y"});
  EXPECT_EQ(find(model).points[0].sizes, (SymbolSizes{{"input.0", 1}, {"state.1", 1}}));
}

TEST_F(FindFeed, TakesTheSizeThatWeightsAskFor) {
  ModelBuilder model;
  model.input("x", {"n", "features"}).output("y", {"n", 2}).weight("w", {17, 2}, std::vector<float>(34, 1));
  model.node("MatMul", {"x", "w"}, {"y"});
  const Feed feed = find(model);
  EXPECT_EQ(feed.points[0].sizes, (SymbolSizes{{"n", 1}, {"features", 17}}));
  EXPECT_EQ(feed.points.back().sizes, (SymbolSizes{{"n", 4}, {"features", 17}}));
}

TEST_F(FindFeed, TakesAllSizesThatAreBoundTogether) {
  ModelBuilder model;
  model.input("a", {"m", "n"}).output("y", {"m", "n"});
  model.node("Relu", {"a"}, {"y"});
  const Feed feed = find(model, {.bound = {{"m", {1, 64, 4096}}, {"n", {2, 3}}}});
  ASSERT_THAT(feed.points, SizeIs(3));
  EXPECT_EQ(feed.points[0].sizes, (SymbolSizes{{"m", 1}, {"n", 2}}));
  EXPECT_EQ(feed.points[1].sizes, (SymbolSizes{{"m", 64}, {"n", 3}}));
  EXPECT_EQ(feed.points[2].sizes, (SymbolSizes{{"m", 4096}, {"n", 3}}));
  EXPECT_EQ(feed.taken[0].why, "bound");
}

TEST_F(FindFeed, RefusesANameThatIsNoDim) {
  EXPECT_THAT(refusal(testing::affine(2, 1), {.bound = {{"bacth", {2}}}}), HasSubstr("did you mean 'batch'"));
  ModelBuilder fixed;
  fixed.input("x", {2}).output("y", {2});
  fixed.node("Relu", {"x"}, {"y"});
  EXPECT_THAT(refusal(fixed, {.bound = {{"batch", {2}}}}), HasSubstr("no dynamic dims"));
}

TEST_F(FindFeed, LeavesForeignNamesOutWhereTheyAreAllowed) {
  const Feed feed = find(testing::affine(2, 1), {.bound = {{"batch", {2}}, {"seq", {8}}}, .foreign = true});
  ASSERT_TRUE(feed.runs()) << feed.problem;
  EXPECT_EQ(feed.points[0].sizes, (SymbolSizes{{"batch", 2}}));
}

TEST_F(FindFeed, DimsNamedByOthersFollowThem) {
  ModelBuilder model;
  model.input("past", {1, "past_length"}).input("next", {1, "length"});
  model.input("mask", {1, "past_length + length"}).output("y", {1, "past_length + length"});
  testing::set_int(model.node("Concat", {"past", "next"}, {"whole"}), "axis", 1);
  model.node("Mul", {"whole", "mask"}, {"y"});
  const Feed feed = find(model);
  ASSERT_TRUE(feed.runs()) << feed.problem;
  EXPECT_EQ(feed.points[0].sizes.at("past_length + length"), 256);
  EXPECT_EQ(feed.taken[2].why, "follows from the others");
}

TEST_F(FindFeed, ANameLikeAFormulaOverNothingIsAName) {
  ModelBuilder model;
  model.input("x", {"(n+1)", 2}).output("y", {"(n+1)", 2});
  model.node("Relu", {"x"}, {"y"});
  EXPECT_THAT(find(model).taken, ElementsAre(TakenSize{"(n+1)", 1, "usual batch"}));
}

TEST_F(FindFeed, SizesThatNoFormulaGivesAreObserved) {
  ModelBuilder model;
  model.input("x", {"n"}).output("y", {1, "found"}, kInt64);
  model.node("Greater", {"x", "x"}, {"none"});
  model.node("Not", {"none"}, {"all"});
  model.node("NonZero", {"all"}, {"found"});
  model.node("Identity", {"found"}, {"y"});
  const Feed feed = find(model, {.bound = {{"n", {5}}}});
  ASSERT_TRUE(feed.runs()) << feed.problem;
  EXPECT_THAT(feed.points[0].inner, ::testing::Contains(::testing::Pair("found", 5)));
  EXPECT_THAT(feed.points[0].inner, ::testing::Each(::testing::Pair(::testing::_, 5)));
}

TEST_F(FindFeed, SaysWhatToGiveWhereNothingRuns) {
  ModelBuilder model;
  model.input("x", {"n"}).output("y", {3, 1009}).integers("shape", {3, 1009});
  model.node("Reshape", {"x", "shape"}, {"y"});
  const Feed feed = find(model);
  EXPECT_FALSE(feed.runs());
  EXPECT_THAT(feed.problem, HasSubstr("fails when it runs"));
  EXPECT_THAT(feed.remedy, HasSubstr("sizes of n with --bind"));
  EXPECT_THAT(feed.taken, IsEmpty());
}

TEST_F(FindFeed, AModelThatTheRuntimeCannotLoadSaysSo) {
  ModelBuilder model;
  model.input("x", {2}).output("y", {2});
  model.node("NoSuchOp", {"x"}, {"y"});
  EXPECT_THAT(find(model).problem, HasSubstr("NoSuchOp"));
}

TEST_F(FindFeed, IntegersThatMeanNothingKnownAreTriedAlike) {
  ModelBuilder model;  // runs where n is 1 only
  model.input("n", {1}, kInt64).output("y", {}).integers("one", {1});
  model.weight("w", {2}, {1, 2});
  model.node("Mul", {"n", "n"}, {"square"});
  model.node("Sub", {"square", "one"}, {"index"});
  model.node("Mul", {"index", "index"}, {"far"});
  model.node("Gather", {"w", "far"}, {"y"});
  const Feed feed = find(model);
  ASSERT_TRUE(feed.runs()) << feed.problem;
  EXPECT_EQ(feed.constant, 1);
}

TEST_F(FindFeed, RunsForTheNumbersThatIntegersMean) {
  ModelBuilder model;  // at a rate of 16000 at least 200 samples, at others fewer do
  model.input("x", {1, "sequence"}).input("rate", {1}, kInt64).output("y", {1, 1});
  model.integers("fast", {16000}).integers("at", {199}).integers("near", {0});
  model.node("Equal", {"rate", "fast"}, {"is_fast"});
  model.node("Where", {"is_fast", "at", "near"}, {"element"});
  testing::set_int(model.node("Gather", {"x", "element"}, {"y"}), "axis", 1);
  const Feed feed = find(model, {.bound = {{"sequence", {128}}}});
  EXPECT_EQ(feed.constant, 1) << "a size that is bound is kept";
  const Feed free = find(model);
  ASSERT_TRUE(free.runs()) << free.problem;
  EXPECT_FALSE(free.constant);
  EXPECT_GE(free.points[0].sizes.at("sequence"), 200);
}

TEST_F(FindFeed, FindsWhatOneDimAsksForAndKeepsTheOthersUsual) {
  ModelBuilder model;  // a height of 48 alone: its factor has that many rows
  model.input("x", {"N", 3, "H", "W"}).output("y", {"N", 3, 48, "W"});
  model.weight("scale", {48, 1}, std::vector<float>(48, 1))
      .weight("none", {48, 1}, std::vector<float>(48, 0));
  model.integers("two", {2});
  ::onnx::NodeProto& join = model.node("Concat", {"x", "x"}, {"double"});
  testing::set_int(join, "axis", 2);
  ::onnx::NodeProto& part = model.node("Split", {"double"}, {"a", "b"});
  testing::set_int(part, "axis", 2);
  model.node("Mul", {"a", "scale"}, {"s"});
  model.node("Add", {"s", "none"}, {"y"});
  const Feed feed = find(model);
  ASSERT_TRUE(feed.runs()) << feed.problem;
  EXPECT_EQ(feed.points[0].sizes, (SymbolSizes{{"N", 1}, {"H", 48}, {"W", 224}}));
}

TEST_F(FindFeed, DimsThatAskForTheSameSizeAreLiftedTogether) {
  ModelBuilder model;  // a square image of at most 64 by 64: the rest of a frame of 64 is padded
  model.input("x", {1, 1, "H", "W"}).output("y", {1, 1, "H", "H"});
  model.weight("frame", {64}, std::vector<float>(64, 1)).integers("none", {0}).integers("three", {3});
  model.node("MatMul", {"x", "x"}, {"y"});
  model.node("Shape", {"x"}, {"shape"});
  model.integers("at", {2});
  model.node("Gather", {"shape", "at"}, {"height"});
  model.node("Split", {"frame", "parts"}, {"p", "q"});
  model.integers("frame_size", {64});
  model.node("Sub", {"frame_size", "height"}, {"rest"});
  testing::set_int(model.node("Concat", {"height", "rest"}, {"parts"}), "axis", 0);
  model.output("p", {"some"});
  const Feed feed = find(model);
  ASSERT_TRUE(feed.runs()) << feed.problem;
  EXPECT_EQ(feed.points[0].sizes, (SymbolSizes{{"H", 64}, {"W", 64}}));
}

TEST_F(FindFeed, RunsWhereSmallSizesAloneDo) {
  ModelBuilder model;  // at most 12 positions
  model.input("ids", {"batch", "length"}).output("y", {"batch", "length"});
  model.weight("positions", {12}, std::vector<float>(12, 1)).integers("limit", {12});
  model.node("Shape", {"ids"}, {"shape"});
  model.integers("at", {1});
  model.node("Gather", {"shape", "at"}, {"length_1"});
  model.node("Sub", {"limit", "length_1"}, {"rest"});
  testing::set_int(model.node("Concat", {"length_1", "rest"}, {"parts"}), "axis", 0);
  model.node("Split", {"positions", "parts"}, {"used", "unused"});
  model.node("Add", {"ids", "used"}, {"y"});
  const Feed feed = find(model);
  ASSERT_TRUE(feed.runs()) << feed.problem;
  EXPECT_EQ(feed.points[0].sizes, (SymbolSizes{{"batch", 1}, {"length", 10}}));
}

TEST_F(FindFeed, DrawsFloatsAndIntegersBelowAByte) {
  for (const DType dtype : {DType::float8e4m3fn, DType::float8e4m3fnuz, DType::float8e5m2,
                            DType::float8e5m2fnuz, DType::int4, DType::uint4}) {
    ModelBuilder model;
    model.opset(21).input("x", {3, 5}, static_cast<int>(dtype)).output("y", {3, 5});
    testing::set_int(model.node("Cast", {"x"}, {"y"}), "to", ::onnx::TensorProto::FLOAT);
    const Feed feed = find(model);
    ASSERT_TRUE(feed.runs()) << feed.problem;
    OrtSession session(path());
    Rng rng(1, "narrow");
    const std::vector<double> values =
        to_doubles(session.run(feed.source()->draw(session.inputs(), {}, rng)).at(0));
    EXPECT_GT(std::set<double>(values.begin(), values.end()).size(), 4u) << graph::dtype_name(dtype);
    EXPECT_THAT(values, ::testing::Each(::testing::AllOf(::testing::Ge(-8.0), ::testing::Le(15.0))));
  }
}

TEST_F(FindFeed, DrawsSequencesAtTheSizesOfTheirTensors) {
  ModelBuilder model;
  model.sequence_input("parts", {"n", 2}).input("x", {"n", 2}).output("y", {"m", 2});
  testing::set_int(model.node("ConcatFromSequence", {"parts"}, {"joined"}), "axis", 1);
  testing::set_int(model.node("Concat", {"joined", "x"}, {"y"}), "axis", 1);
  model.output_type(0).mutable_tensor_type()->clear_shape();
  const Feed feed = find(model, {.bound = {{"n", {4}}}});
  ASSERT_TRUE(feed.runs()) << feed.problem;
  EXPECT_EQ(feed.points[0].sizes, (SymbolSizes{{"n", 4}}));
}

TEST_F(FindFeed, AnOptionalIsThere) {
  ModelBuilder model;
  model.opset(18).input("x", {4}).output("y", {4});
  ModelBuilder::make_optional(model.graph().mutable_input(0)->mutable_type());
  model.node("OptionalGetElement", {"x"}, {"y"});
  const Feed feed = find(model);
  EXPECT_TRUE(feed.runs()) << feed.problem;
}

TEST_F(FindFeed, NamesThatAreNotUtf8AreRefused) {
  ModelBuilder model;
  model.input("x", {"n\xFF", 2}).output("y", {"n\xFF", 2});
  model.node("Relu", {"x"}, {"y"});
  const Feed feed = find(model);
  EXPECT_FALSE(feed.runs());
  EXPECT_THAT(feed.problem, HasSubstr("a name that is not UTF-8"));
}

TEST_F(FindFeed, AMapIsRefusedWithItsNameAndWhatToDo) {
  ModelBuilder model;
  model.input("x", {"n"}).input("m", {}).output("y", {1, 3}).output("z", {"n"}).import_domain("ai.onnx.ml");
  ModelBuilder::make_map(model.graph().mutable_input(1)->mutable_type());
  model.node("Relu", {"x"}, {"z"});
  ::onnx::NodeProto& cast = model.node("CastMap", {"m"}, {"y"});
  cast.set_domain("ai.onnx.ml");
  testing::set_text(cast, "map_form", "SPARSE");
  testing::set_int(cast, "max_map", 3);
  const Feed feed = find(model);
  EXPECT_FALSE(feed.runs());
  EXPECT_EQ(feed.problem, "maps are neither drawn nor read, and its input m holds one");
  EXPECT_THAT(feed.remedy, HasSubstr("tensors as inputs"));
}

TEST_F(FindFeed, GoesThroughJson) {
  const Feed feed = find(dynamic_image("H", "W"));
  const Feed again = feed_from_json(to_json(feed));
  EXPECT_EQ(again.taken, feed.taken);
  EXPECT_EQ(again.points, feed.points);
  EXPECT_EQ(again.meanings, feed.meanings);
  EXPECT_THROW(feed_from_json(nlohmann::json::object()), ExecError);
}

TEST_F(FindFeed, LargerSizesAreLeftOutWhereRunsTakeLong) {
  double run_s = 0, now_s = 0;
  FeedRequest request;
  request.clock = [&] { return now_s += run_s; };
  EXPECT_THAT(find(dynamic_image("H", "W"), request).points, SizeIs(3));
  run_s = 2;
  EXPECT_THAT(find(dynamic_image("H", "W"), request).points, SizeIs(2));
}

}  // namespace
}
