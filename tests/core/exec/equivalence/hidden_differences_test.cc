// Differences that usual inputs, one scale for a whole output, or a run without the runtime's optimiser hide.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "core/exec/equivalence/check_equivalence.h"
#include "core/exec/tiny_models.h"

namespace regraft::exec {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using testing::ModelBuilder;
using ::testing::Not;

class HiddenDifference : public ::testing::Test {
 protected:
  EquivalenceReport check(const ModelBuilder& a, const ModelBuilder& b,
                          const EquivalenceOptions& options = {}) {
    return check_equivalence(a.write(folder_ / "a.onnx"), b.write(folder_ / "b.onnx"), options);
  }
  testing::TempFolder folder_;
};

/// The product of x 1e20 1e-20 and y 1e30, finite as written. Where the runtime moves the factor of 1e-20,
/// which it does with one number and not with two, the product overflows.
ModelBuilder product(const std::vector<float>& small) {
  ModelBuilder model;
  model.input("x", {2, 2}).input("y", {2, 2}).output("z", {2, 2});
  model.weight("many", {2}, {1e20f, 1e20f}).weight("more", {2}, {1e30f, 1e30f});
  model.weight("small", small.size() == 1 ? std::vector<std::int64_t>{} : std::vector<std::int64_t>{2},
               small);
  model.node("Mul", {"x", "many"}, {"large"});
  model.node("Mul", {"large", "small"}, {"usual"});
  model.node("Mul", {"y", "more"}, {"larger"});
  model.node("MatMul", {"usual", "larger"}, {"z"});
  return model;
}

TEST_F(HiddenDifference, ThatOnlyTheRuntimesOptimiserShows) {
  const EquivalenceReport report = check(product({1e-20f, 1e-20f}), product({1e-20f}));
  EXPECT_FALSE(report.equivalent);
  EXPECT_THAT(report.reason, HasSubstr("output z differs with all of the runtime's optimisation"));
  EXPECT_TRUE(check(product({1e-20f, 1e-20f}), product({1e-20f, 1e-20f})).equivalent);
}

/// x times a factor, and one hidden place.
ModelBuilder scores(float factor, float hidden) {
  ModelBuilder model;
  model.input("x", {4}).output("y", {5}).weight("factor", {1}, {factor}).weight("hidden", {1}, {hidden});
  model.node("Mul", {"x", "factor"}, {"seen"});
  testing::set_int(model.node("Concat", {"seen", "hidden"}, {"y"}), "axis", 0);
  return model;
}

TEST_F(HiddenDifference, BesideAMask) {
  for (const float hidden : {-1e9f, -3.4e38f}) {
    EXPECT_FALSE(check(scores(2, hidden), scores(2.01f, hidden)).equivalent) << hidden;
    EXPECT_FALSE(check(scores(2, hidden), scores(2, hidden * 0.99f)).equivalent) << hidden;
    EXPECT_TRUE(check(scores(2, hidden), scores(2, hidden)).equivalent) << hidden;
  }
}

/// The sum of logarithms: NaN wherever one number is negative.
ModelBuilder logarithms(float factor) {
  ModelBuilder model;
  model.input("x", {64}).output("y", {1}).weight("factor", {1}, {factor});
  model.node("Mul", {"x", "factor"}, {"scaled"});
  model.node("Log", {"scaled"}, {"logarithms"});
  model.node("ReduceSum", {"logarithms"}, {"y"});
  return model;
}

TEST_F(HiddenDifference, WhereUsualInputsLeadToNan) {
  const EquivalenceReport report = check(logarithms(1), logarithms(1.5));
  EXPECT_FALSE(report.equivalent);
  EXPECT_THAT(report.reason, HasSubstr("with floats between 0 and 1"));
  const EquivalenceReport same = check(logarithms(1), logarithms(1));
  EXPECT_TRUE(same.equivalent) << same.reason;
  EXPECT_THAT(same.notes, Not(Contains(HasSubstr("not finite on every input"))));
}

/// The mean of x over its rows, and how many there are: with none, 0 or 0 / 0.
ModelBuilder mean_of_rows(bool guarded) {
  ModelBuilder model;
  model.input("x", {"rows", 3}).output("y", {1}).integers("axes", {0, 1}).weight("least", {}, {1e-9f});
  model.node("Shape", {"x"}, {"shape"});
  testing::set_int(model.node("Cast", {"shape"}, {"sizes"}), "to", ::onnx::TensorProto::FLOAT);
  testing::set_int(model.node("ReduceProd", {"sizes"}, {"size"}), "keepdims", 0);
  testing::set_int(model.node("ReduceSum", {"x", "axes"}, {"sum"}), "keepdims", 0);
  model.node("Max", {"size", "least"}, {"divisor"});
  model.node("Div", {"sum", guarded ? "divisor" : "size"}, {"y"});
  return model;
}

TEST_F(HiddenDifference, WhereADimIsZero) {
  const EquivalenceReport report = check(mean_of_rows(true), mean_of_rows(false));
  EXPECT_FALSE(report.equivalent);
  EXPECT_THAT(report.reason, HasSubstr("(binding: rows=0)"));
  EXPECT_TRUE(check(mean_of_rows(true), mean_of_rows(false), {.nonempty = true}).equivalent);
  EXPECT_TRUE(check(mean_of_rows(true), mean_of_rows(true)).equivalent);
}

/// A GRU, on which ONNX Runtime ends the process where the batch is 0.
ModelBuilder gru() {
  ModelBuilder model;
  model.input("x", {2, "batch", 1}).output("y", {2, 1, "batch", 1});
  model.weight("w", {1, 3, 1}, {1, 2, 3}).weight("r", {1, 3, 1}, {1, 2, 3});
  testing::set_int(model.node("GRU", {"x", "w", "r"}, {"y"}), "hidden_size", 1);
  return model;
}

TEST_F(HiddenDifference, ARuntimeThatEndsItsProcessOnEmptyInputsEndsNoCheck) {
  const EquivalenceReport report = check(gru(), gru());
  EXPECT_TRUE(report.equivalent) << report.reason;
  EXPECT_THAT(report.bindings, Not(Contains("batch=0")));
}

/// Row 0 of a table of two, or where x is positive row 5, which it does not have.
ModelBuilder looks_up(float factor) {
  ModelBuilder model;
  model.input("x", {1})
      .output("y", {1, 2})
      .weight("zero", {1}, {0})
      .weight("table", {2, 2}, {factor, 2, 3, 4});
  model.integers("rows", {5});
  model.node("Greater", {"x", "zero"}, {"positive"});
  testing::set_int(model.node("Cast", {"positive"}, {"one"}), "to", ::onnx::TensorProto::INT64);
  model.node("Mul", {"one", "rows"}, {"row"});
  model.node("Gather", {"table", "row"}, {"y"});
  return model;
}

TEST_F(HiddenDifference, WhereTheOriginalFailsOnSomeDraws) {
  EXPECT_FALSE(check(looks_up(1), looks_up(1.5), {.draws = 8}).equivalent);
  EXPECT_TRUE(check(looks_up(1), looks_up(1), {.draws = 8}).equivalent);
}

TEST_F(HiddenDifference, InputsThatTryLittleAreNamed) {
  const RandomInputs alike({}, 1);
  EXPECT_THAT(check(scores(2, 3), scores(2, 3), {.inputs = &alike}).notes,
              Contains(HasSubstr("all integers and booleans were 1")));
}

}  // namespace
}
