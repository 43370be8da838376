#include "core/exec/inputs/extreme_inputs.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "core/exec/equivalence/check_equivalence.h"
#include "core/exec/tiny_models.h"

namespace regraft::exec {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ModelBuilder;
using ::testing::Not;
using testing::TempFolder;

const std::vector<ValueInfo> kInputs = {{"ids", DType::int64, {{4, ""}}},
                                        {"x", DType::float32, {{64, ""}, {8, ""}}},
                                        {"m", DType::float32, {{32, ""}, {4, ""}}}};

std::vector<double> drawn(const ExtremeDraw& draw, std::size_t input) {
  const RandomInputs normal;
  Rng rng(3, "extremes");
  return to_doubles(ExtremeInputs(normal, draw).draw(kInputs, {}, rng)[input]);
}

TEST(ExtremeInputs, MasksAreAsPeopleWriteThem) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double lowest = std::numeric_limits<float>::lowest();
  const std::vector<double> mask = drawn({Extreme::mask, 2}, 2), open = drawn({Extreme::infinite_mask, 2}, 2);
  EXPECT_EQ(std::set<double>(mask.begin(), mask.end()), (std::set<double>{0, -1e4, -1e9, lowest}));
  EXPECT_EQ(std::set<double>(open.begin(), open.end()), (std::set<double>{0, -infinity}));
  std::size_t whole = 0;
  for (std::size_t row = 0; row < 32; ++row) {
    bool all = true;
    for (std::size_t i = 0; i < 4; ++i) all = all && mask[4 * row + i] != 0;
    whole += all ? 1 : 0;
  }
  EXPECT_GE(whole, 16u);
  EXPECT_THAT(drawn({Extreme::mask, 2}, 1), Not(Contains(-1e4))) << "one input at a time";
}

TEST(ExtremeInputs, AreOfTheSizesThatTheirNamesSay) {
  const auto sizes = [](Extreme kind) { return drawn({kind, 1}, 1); };
  EXPECT_THAT(sizes(Extreme::zeros), Each(0));
  EXPECT_THAT(sizes(Extreme::equal), Each(0.75));
  EXPECT_THAT(sizes(Extreme::tiny), Each(::testing::Truly([](double v) { return std::abs(v) < 1e-28; })));
  const auto finite = [](double v) { return std::isfinite(v); };
  EXPECT_EQ(std::ranges::count_if(sizes(Extreme::huge), finite), 64 * 8);
  EXPECT_EQ(std::ranges::count_if(sizes(Extreme::infinity), finite), 64 * 8 - 1);
  EXPECT_EQ(std::ranges::count_if(sizes(Extreme::nan), finite), 64 * 8 - 1);
}

TEST(ExtremeDraws, HaveNoInfinityWhereOnlyFiniteNumbersAreCompared) {
  for (const ExtremeDraw& draw : extreme_draws(kInputs, true))
    for (const double value : drawn(draw, 1)) EXPECT_TRUE(std::isfinite(value)) << draw.label(kInputs);
  EXPECT_THAT(extreme_draws(std::span(kInputs).first(1), false), IsEmpty()) << "no floats";
}

TEST(ExtremeDraws, AreMasksOfWhatIsSmallerThanOthers) {
  std::vector<std::string> labels;
  for (const ExtremeDraw& draw : extreme_draws(kInputs, false)) labels.push_back(draw.label(kInputs));
  EXPECT_THAT(labels, ::testing::IsSupersetOf({"m is a mask", "m is a mask of -inf", "a NaN in x"}));
  EXPECT_THAT(labels, Not(Contains(HasSubstr("x is a mask"))));
}

class OnExtremes : public ::testing::Test {
 protected:
  EquivalenceReport check(const ModelBuilder& a, const ModelBuilder& b, bool finite = false) {
    const RandomInputs plain;  // that know nothing of masks
    EquivalenceOptions options;
    options.finite = finite;
    options.inputs = &plain;
    return check_equivalence(a.write(folder_ / "a.onnx"), b.write(folder_ / "b.onnx"), options);
  }
  TempFolder folder_;
};

/// Softmax of x[4, 8], with m[4, 1] added first where it is asked for.
ModelBuilder softmax(bool masked) {
  ModelBuilder model;
  model.input("x", {4, 8}).input("m", {4, 1}).output("y", {4, 8}).output("z", {4, 1});
  model.node("Relu", {"m"}, {"z"});
  if (masked) model.node("Add", {"x", "m"}, {"s"});
  model.node("Softmax", {masked ? "s" : "x"}, {"y"});
  return model;
}

TEST_F(OnExtremes, ADroppedMaskIsFound) {
  const EquivalenceReport report = check(softmax(true), softmax(false));
  EXPECT_FALSE(report.equivalent);
  EXPECT_EQ(report.worst_output, "y");
  EXPECT_THAT(report.reason, HasSubstr("m is a mask"));
  EXPECT_THAT(report.notes, Each(Not(HasSubstr("--finite"))));
  EXPECT_FALSE(check(softmax(true), softmax(false), true).equivalent) << "-1e9 shows it, too";
  const EquivalenceReport same = check(softmax(true), softmax(true));
  EXPECT_TRUE(same.equivalent) << same.reason;
}

/// A convolution in two groups, or as one with blocks of zeros.
ModelBuilder convolution(bool merged) {
  ModelBuilder model;
  model.input("x", {1, 4, 5, 5}).output("y", {1, 2, 5, 5});
  if (merged)
    model.weight("w", {2, 4, 1, 1}, {1, 2, 0, 0, 0, 0, 3, 4});
  else
    model.weight("w", {2, 2, 1, 1}, {1, 2, 3, 4});
  testing::set_int(model.node("Conv", {"x", "w"}, {"y"}), "group", merged ? 1 : 2);
  return model;
}

TEST_F(OnExtremes, AnInfinityThatReachesAnotherGroupIsFoundUnlessTheRulesSaySo) {
  const EquivalenceReport report = check(convolution(false), convolution(true));
  EXPECT_FALSE(report.equivalent);
  EXPECT_THAT(report.reason, HasSubstr(" in x"));
  EXPECT_THAT(report.notes, Contains(HasSubstr("try --finite")));
  const EquivalenceReport finite = check(convolution(false), convolution(true), true);
  EXPECT_TRUE(finite.equivalent) << finite.reason;
}

/// x * 1e20 * 1e20 * 1e-40 in one order or in another: of huge numbers the first overflows.
ModelBuilder scaled(bool overflows) {
  ModelBuilder model;
  model.input("x", {2, 3}).output("y", {2, 3}).weight("large", {1}, {1e12f}).weight("small", {1}, {1e-12f});
  model.node("Mul", {"x", overflows ? "large" : "small"}, {"h"});
  model.node("Mul", {"h", overflows ? "small" : "large"}, {"y"});
  return model;
}

TEST_F(OnExtremes, WhereTheOriginalOverflowsByItselfNothingFollows) {
  const EquivalenceReport right = check(scaled(true), scaled(false));
  EXPECT_TRUE(right.equivalent) << right.reason;
}

}  // namespace
}
