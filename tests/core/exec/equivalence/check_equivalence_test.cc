#include "core/exec/equivalence/check_equivalence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>

#include "core/exec/runtime/exec_error.h"
#include "core/exec/tiny_models.h"

namespace regraft::exec {
namespace {

using testing::affine;
using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using testing::ModelBuilder;
using ::testing::Not;
using ::testing::SizeIs;
using testing::TempFolder;

class Equivalence : public ::testing::Test {
 protected:
  EquivalenceReport check(const ModelBuilder& a, const ModelBuilder& b,
                          const EquivalenceOptions& options = {}) {
    return check_equivalence(a.write(folder_ / "a.onnx"), b.write(folder_ / "b.onnx"), options);
  }
  TempFolder folder_;
};

/// 2 x + 1 written as (x + x) + 1.
ModelBuilder doubled(const ModelBuilder::Axis& rows = "batch") {
  ModelBuilder model;
  model.input("x", {rows, 3}).output("y", {rows, 3}).weight("one", {1}, {1});
  model.node("Add", {"x", "x"}, {"m"});
  model.node("Add", {"m", "one"}, {"y"});
  return model;
}

/// x * 3.3 by one factor or by two whose product rounds elsewhere.
ModelBuilder scaled(const std::vector<float>& factors) {
  ModelBuilder model;
  model.input("x", {"batch", 3}).output("y", {"batch", 3});
  std::string last = "x";
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const std::string name = "w" + std::to_string(i);
    model.weight(name, {1}, {factors[i]});
    const std::string next = i + 1 == factors.size() ? "y" : "t" + std::to_string(i);
    model.node("Mul", {last, name}, {next});
    last = next;
  }
  return model;
}

TEST_F(Equivalence, ComparesAtTheSizesForWhichTheOtherIsMade) {
  const EquivalenceReport report = check(doubled(), doubled(4), {.fixed = {{"batch", 4}}});
  EXPECT_TRUE(report.equivalent) << report.reason;
  EXPECT_THAT(report.notes, Contains("compared for batch=4 alone"));
  EXPECT_THAT(report.bindings, ElementsAre("the model's fixed sizes"));
  EXPECT_FALSE(check(doubled(), doubled(4), {.fixed = {{"batch", 3}}}).equivalent);
}

TEST_F(Equivalence, AcceptsAnotherWayToWriteTheSame) {
  const EquivalenceReport report = check(affine(2, 1), doubled());
  EXPECT_TRUE(report.equivalent) << report.reason;
  EXPECT_THAT(report.bindings, ElementsAre("batch=1", "batch=7", "batch=2", "batch=3", "batch=4", "batch=5",
                                           "batch=6", "batch=0"));
  EXPECT_THAT(report.outputs, SizeIs(1));
  EXPECT_LE(report.max_relative_error, 1e-6);
}

TEST_F(Equivalence, RefusesAWrongConstantAndNamesTheOutput) {
  const EquivalenceReport report = check(affine(2, 1), affine(2.001f, 1));
  EXPECT_FALSE(report.equivalent);
  EXPECT_EQ(report.worst_output, "y");
  EXPECT_THAT(report.reason, HasSubstr("output y differs"));
  EXPECT_GT(report.max_relative_error, 1e-4);
}

/// The items of a sequence times a factor, joined and as they are.
ModelBuilder of_sequence(float factor) {
  ModelBuilder model;
  model.opset(17).sequence_input("s", {"n"}).sequence_output("parts").weight("factor", {1}, {factor});
  testing::set_int(model.node("ConcatFromSequence", {"s"}, {"joined"}), "axis", 0);
  model.node("Mul", {"joined", "factor"}, {"scaled"});
  model.node("SplitToSequence", {"scaled"}, {"parts"});
  return model;
}

TEST_F(Equivalence, ComparesSequences) {
  const EquivalenceReport same = check(of_sequence(2), of_sequence(2));
  EXPECT_TRUE(same.equivalent) << same.reason;
  EXPECT_THAT(same.extremes, ::testing::Not(::testing::IsEmpty()));
  const EquivalenceReport other = check(of_sequence(2), of_sequence(2.001f));
  EXPECT_FALSE(other.equivalent);
  EXPECT_THAT(other.reason, HasSubstr("output parts differs"));
}

TEST_F(Equivalence, ComparesAtThePointsGivenFirst) {
  EquivalenceOptions options;
  options.points = {{{"batch", 4}}, {{"batch", 9}}};
  EXPECT_THAT(check(affine(2, 1), doubled(), options).bindings,
              ElementsAre("batch=4", "batch=9", "batch=1", "batch=7", "batch=2", "batch=3", "batch=5",
                          "batch=6", "batch=0"));
}

TEST_F(Equivalence, SaysWhatItHadNoTimeFor) {
  EquivalenceOptions options{.points = {{{"batch", 4}}}};
  EXPECT_THAT(check(affine(2, 1), doubled(), options).notes, IsEmpty());
  options.probe_s = 0;
  const EquivalenceReport report = check(affine(2, 1), doubled(), options);
  EXPECT_TRUE(report.equivalent) << report.reason;
  EXPECT_THAT(report.bindings, ElementsAre("batch=4", "batch=1", "batch=7")) << "these are always compared";
  EXPECT_THAT(report.extremes, IsEmpty());
  EXPECT_THAT(report.notes,
              ElementsAre(HasSubstr("some further sizes"), HasSubstr("draws of extremes left out")));
  EXPECT_FALSE(check(affine(2, 1.1f), doubled(), options).equivalent);
}

TEST_F(Equivalence, FindsADifferenceThatOnlyShowsAtSomeSizes) {
  ModelBuilder fixed;  // sums at most 3 rows: the same only while batch <= 3
  fixed.input("x", {"batch", 3}).output("y", {1, 3});
  fixed.integers("from", {0}).integers("to", {3}).integers("axes", {0});
  fixed.node("Slice", {"x", "from", "to", "axes"}, {"s"});
  fixed.node("ReduceSum", {"s", "axes"}, {"y"});
  ModelBuilder whole;
  whole.input("x", {"batch", 3}).output("y", {1, 3}).integers("axes", {0});
  whole.node("ReduceSum", {"x", "axes"}, {"y"});
  const EquivalenceReport report = check(whole, fixed);
  EXPECT_FALSE(report.equivalent);
  EXPECT_THAT(report.reason, HasSubstr("batch=7"));
}

/// One row of the last `rows` of x[n, 3], taken from those rows or, counted from the end, from x itself: the
/// same only where n is at least `rows`.
ModelBuilder row_of_last(std::int64_t rows, std::int64_t row, bool counted_from_the_end) {
  ModelBuilder model;
  model.input("x", {"n", 3}).output("y", {1, 3}).integers("row", {row}).integers("same", {row - rows});
  model.integers("from", {-rows}).integers("to", {1000}).integers("axes", {0});
  if (!counted_from_the_end) model.node("Slice", {"x", "from", "to", "axes"}, {"last"});
  model.node("Gather", {counted_from_the_end ? "x" : "last", counted_from_the_end ? "same" : "row"}, {"y"});
  return model;
}

TEST_F(Equivalence, FindsADifferenceForIntegersThatTheModelDoesNotName) {
  const auto at_other_rates = [](const std::string& op) {
    ModelBuilder model;
    model.input("x", {3}).input("rate", {1}, ::onnx::TensorProto::INT64).output("y", {3});
    model.integers("fast", {16000});
    model.node("Equal", {"rate", "fast"}, {"is_fast"});
    model.node(op, {"x"}, {"other"});
    model.node("Where", {"is_fast", "x", "other"}, {"y"});
    return model;
  };
  const EquivalenceReport same = check(at_other_rates("Neg"), at_other_rates("Neg"));
  EXPECT_TRUE(same.equivalent) << same.reason;
  EXPECT_THAT(same.bindings, ElementsAre("the model's fixed sizes", HasSubstr("; with integers that the")));
  EXPECT_THAT(check(at_other_rates("Neg"), at_other_rates("Abs")).reason, HasSubstr("does not name"));
}

TEST_F(Equivalence, LooksWhereTheModelIsSmallerThanItsOwnConstants) {
  for (const auto& [rows, row] : std::vector<std::pair<std::int64_t, std::int64_t>>{{3, 1}, {9, 5}, {8, 7}}) {
    EquivalenceOptions options;
    options.points = {{{"n", 10}}};
    const ModelBuilder good = row_of_last(rows, row, false);
    EXPECT_TRUE(check(good, good, options).equivalent);
    const EquivalenceReport report = check(good, row_of_last(rows, row, true), options);
    const bool same_wherever_it_runs = row + 1 >= rows;
    EXPECT_EQ(report.equivalent, same_wherever_it_runs) << rows << " " << row << ": " << report.reason;
  }
}

// The batch need not be as large as the image is wide.
TEST_F(Equivalence, SizesOfAllSymbolsAtOnceStayNearWhatIsUsual) {
  ModelBuilder model;
  model.input("x", {"n", 1, "w"})
      .output("y", {"n", 1, "v"})
      .weight("k", {1, 1, 20}, std::vector<float>(20, 0.1f));
  testing::set_ints(model.node("Conv", {"x", "k"}, {"y"}), "kernel_shape", {20});
  EquivalenceOptions options;
  options.points = {{{"n", 1}, {"w", 32}}};
  const std::vector<std::string> bindings = check(model, model, options).bindings;
  EXPECT_THAT(bindings, Contains("n=1, w=20"));
  EXPECT_THAT(bindings, Not(Contains("n=20, w=20")));
  EXPECT_THAT(bindings, Contains("n=2, w=32"));
  EXPECT_THAT(bindings, Each(Not(ContainsRegex("n=(19|20|21), w=32")))) << "nor of one alone";
}

TEST_F(Equivalence, BitEqualRefusesWhatRoundingAloneChanges) {
  const ModelBuilder one = scaled({3.3f});
  const ModelBuilder two = scaled({1.1f, 3.0f});
  EXPECT_TRUE(check(one, two).equivalent);
  EquivalenceOptions options;
  options.agreement = Agreement::bit_equal;
  const EquivalenceReport report = check(one, two, options);
  EXPECT_FALSE(report.equivalent);
  EXPECT_THAT(report.reason, HasSubstr("bytes differ"));
  EXPECT_TRUE(check(one, one, options).equivalent);
}

TEST_F(Equivalence, RefusesAnotherInterface) {
  ModelBuilder renamed = affine(2, 1);
  renamed.graph().mutable_output(0)->set_name("z");
  renamed.graph().mutable_node(1)->set_output(0, "z");
  EXPECT_THAT(check(affine(2, 1), renamed).reason,
              HasSubstr("output 0 is y: float32[batch, 3] in the original and z"));
  ModelBuilder fixed = affine(2, 1);
  fixed.graph()
      .mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(0)
      ->set_dim_value(1);
  const EquivalenceReport report = check(affine(2, 1), fixed);
  EXPECT_FALSE(report.equivalent);
  EXPECT_THAT(report.reason, HasSubstr("input 0"));
}

/// Rows that the loader does not know, since it looks through no arithmetic on floats; or that it does.
ModelBuilder expanded(bool known) {
  ModelBuilder model;
  model.input("x", {1, 3}).output("y", {"rows", 3});
  if (known) {
    model.integers("shape", {6, 1});
  } else {
    model.weight("a", {2}, {3, 1}).weight("b", {2}, {2, 1});
    model.node("Mul", {"a", "b"}, {"product"});
    testing::set_int(model.node("Cast", {"product"}, {"shape"}), "to", ::onnx::TensorProto::INT64);
  }
  model.node("Expand", {"x", "shape"}, {"y"});
  return model;
}

TEST_F(Equivalence, AnOutputMayBeKnownBetterThanItWas) {
  const EquivalenceReport report = check(expanded(false), expanded(true));
  EXPECT_TRUE(report.equivalent) << report.reason;
}

// The loader drops what is declared where it knows of another rank, and did not know of it before.
TEST_F(Equivalence, AnOutputMayBeDeclaredWrong) {
  std::array<ModelBuilder, 2> models{expanded(false), expanded(true)};
  for (ModelBuilder& model : models)
    model.graph()
        .mutable_output(0)
        ->mutable_type()
        ->mutable_tensor_type()
        ->mutable_shape()
        ->add_dim()
        ->set_dim_param("more");
  const EquivalenceReport report = check(models[0], models[1]);
  EXPECT_TRUE(report.equivalent) << report.reason;
}

TEST_F(Equivalence, AnOutputOfManySizesMayNotBecomeOneOfASingleSize) {
  ModelBuilder first = affine(2, 1);
  first.graph().mutable_node(1)->set_output(0, "all");
  first.integers("begin", {0}).integers("end", {1}).node("Slice", {"all", "begin", "end"}, {"y"});
  EXPECT_FALSE(check(affine(2, 1), first).equivalent);
}

TEST_F(Equivalence, AnOtherModelThatCannotLoadIsAVerdict) {
  ModelBuilder broken = affine(2, 1);
  broken.graph().mutable_node(0)->set_op_type("NoSuchOp");
  const EquivalenceReport report = check(affine(2, 1), broken);
  EXPECT_FALSE(report.equivalent);
  EXPECT_THAT(report.reason, HasSubstr("NoSuchOp"));
  EXPECT_THROW(check(broken, affine(2, 1)), ExecError);
}

TEST_F(Equivalence, SkipsBindingsAtWhichTheOriginalFails) {
  ModelBuilder fixed;  // batch * 3 elements as [1, 3]: runs for batch 1 only
  fixed.input("x", {"batch", 3}).output("y", {1, 3}).integers("shape", {1, 3});
  fixed.node("Reshape", {"x", "shape"}, {"y"});
  const EquivalenceReport report = check(fixed, fixed);
  EXPECT_TRUE(report.equivalent) << report.reason;
  EXPECT_THAT(report.bindings, ElementsAre("batch=1"));
  EXPECT_THAT(report.notes, ElementsAre(HasSubstr("not compared at batch=7")));
}

TEST_F(Equivalence, RetriesOnePrimeWhereSizesMustAgree) {
  ModelBuilder sum;
  sum.input("a", {"m"}).input("b", {"n"}).output("y", {"m"});
  sum.node("Add", {"a", "b"}, {"y"});
  const EquivalenceReport report = check(sum, sum);
  EXPECT_THAT(report.bindings, IsSupersetOf({"m=1, n=1", "m=7, n=7", "m=2, n=2", "m=2, n=1", "m=1, n=2"}));
}

TEST_F(Equivalence, SaysWhenAnOutputProvesNothing) {
  const EquivalenceReport report = check(affine(0, 0), affine(0, 0));
  EXPECT_TRUE(report.equivalent);
  EXPECT_THAT(report.notes, ElementsAre(HasSubstr("output y is zero or not finite")));
}

TEST_F(Equivalence, IntegerOutputsAreExact) {
  const auto plus = [](std::int64_t increment) {
    ModelBuilder model;
    model.input("n", {4}, ::onnx::TensorProto::INT64).output("y", {4}, ::onnx::TensorProto::INT64);
    model.integers("k", {increment});
    model.node("Add", {"n", "k"}, {"y"});
    return model;
  };
  EXPECT_TRUE(check(plus(2), plus(2)).equivalent);
  const EquivalenceReport report = check(plus(2), plus(3));
  EXPECT_FALSE(report.equivalent);
  EXPECT_THAT(report.reason, HasSubstr("int64 values differ"));
}

TEST_F(Equivalence, NamesTheFirstInnerValueThatDiffers) {
  const auto chain = [](float scale) {
    ModelBuilder model;
    model.input("x", {4}).output("y", {4}).weight("one", {1}, {1}).weight("scale", {1}, {scale});
    model.node("Add", {"x", "one"}, {"shifted"});
    model.node("Mul", {"shifted", "scale"}, {"scaled"});
    model.node("Relu", {"scaled"}, {"y"});
    return model;
  };
  const EquivalenceReport report = check(chain(2), chain(2.5f));
  EXPECT_FALSE(report.equivalent);
  EXPECT_THAT(report.first_difference, HasSubstr("scaled (Mul)"));
  EXPECT_THAT(report.reason, HasSubstr("scaled (Mul)"));
  EXPECT_EQ(check(chain(2), chain(2)).first_difference, "");
  const EquivalenceReport brief = check(chain(2), chain(2.5f), {.verdict_only = true});
  EXPECT_FALSE(brief.equivalent);
  EXPECT_EQ(brief.first_difference, "");
}

/// Moves an initializer's contents into a data file.
void make_external(ModelBuilder& model, int initializer, const std::filesystem::path& file) {
  ::onnx::TensorProto& tensor = *model.graph().mutable_initializer(initializer);
  std::ofstream(file, std::ios::binary) << tensor.raw_data();
  tensor.clear_raw_data();
  tensor.set_data_location(::onnx::TensorProto::EXTERNAL);
  auto* entry = tensor.add_external_data();
  entry->set_key("location");
  entry->set_value(file.filename());
}

TEST_F(Equivalence, NamesTheFirstInnerValueThatDiffersWithExternalData) {
  const auto chain = [&](float scale, const std::string& data) {
    ModelBuilder model;
    model.input("x", {4}).output("y", {4}).weight("scale", {1}, {scale}).weight("one", {1}, {1});
    model.node("Add", {"x", "one"}, {"shifted"});
    model.node("Mul", {"shifted", "scale"}, {"scaled"});
    model.node("Relu", {"scaled"}, {"y"});
    make_external(model, 0, folder_ / data);
    return model;
  };
  const EquivalenceReport report = check(chain(2, "a.data"), chain(2.5f, "b.data"));
  EXPECT_FALSE(report.equivalent);
  EXPECT_THAT(report.first_difference, HasSubstr("scaled (Mul)"));
}

// The second candidate is larger by a rounding, or by more.
TEST_F(Equivalence, ArgMaxMayChooseAnotherOfEqualCandidates) {
  bool external = false;
  const auto choice = [&](float second) {
    ModelBuilder model;
    model.input("x", {2, 1}).output("y", {2, 1}, ::onnx::TensorProto::INT64);
    model.weight("w", {1, 3}, {1, second, 0}).weight("scale", {1}, {0});
    model.node("Mul", {"x", "scale"}, {"zero"});
    model.node("Add", {"zero", "w"}, {"data"});
    testing::set_int(model.node("ArgMax", {"data"}, {"y"}), "axis", 1);
    if (external) make_external(model, 0, folder_ / (std::to_string(second) + (second < 1 ? "a" : "b")));
    return model;
  };
  for (const bool outside : {false, true}) {
    external = outside;
    EXPECT_TRUE(check(choice(0.9999999f), choice(1.0000001f)).equivalent) << outside;
    EXPECT_FALSE(check(choice(0.9f), choice(1.1f)).equivalent) << outside;
  }
  EquivalenceOptions exact;
  exact.agreement = Agreement::bit_equal;
  EXPECT_FALSE(check(choice(0.9999999f), choice(1.0000001f), exact).equivalent);
}

TEST_F(Equivalence, ReportGoesThroughJson) {
  const EquivalenceReport report = check(affine(2, 1), affine(2.5f, 1));
  const EquivalenceReport again = equivalence_from_json(nlohmann::json::parse(to_json(report).dump()));
  EXPECT_EQ(to_json(again), to_json(report));
  EXPECT_THROW(equivalence_from_json(nlohmann::json::object()), ExecError);
}

}  // namespace
}
