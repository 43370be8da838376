// Rules that are meant to take time or memory: found by the fuzzer of the rule parser.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/rules/graph_builder.h"
#include "core/rules/rewrite.h"
#include "core/rules/rule_set.h"

namespace regraft::rules::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string error_of(const std::string& text) {
  try {
    RuleSet::parse(text, "hostile");
  } catch (const RuleError& error) {
    return error.what();
  }
  return "no error";
}

std::size_t matches_on_relu(const std::string& text) {
  const RuleSet rules = RuleSet::parse(text, "hostile");
  GraphBuilder b;
  b.output(b.op(OpKind::relu, {b.input({2, 3})}));
  return MatchIndex(rules, b.graph()).matches(0).size();
}

// A distance between names takes the product of their lengths.
TEST(HostileRules, LongNamesAreNotComparedLetterByLetter) {
  const std::string one(200000, 'a'), other(200000, 'b');
  EXPECT_THAT(error_of("r: Relu(" + one + ") => Relu(" + other + ")\n"), HasSubstr("not determined"));
  EXPECT_THAT(error_of("r: Relv(x) => x\n"), HasSubstr("did you mean 'Relu'"));
  EXPECT_THAT(error_of("r: R" + other + "(x) => x\n"), Not(HasSubstr("did you mean")));
}

// Each of forty names is twice as long a list as the one before.
TEST(HostileRules, ListsThatDoubleThemselvesHaveNoValue) {
  const auto doubled = [](int times) {
    std::string text = "r: Relu(x), l0 = dims(x)";
    for (int i = 1; i <= times; ++i) {
      const std::string last = "l" + std::to_string(i - 1);
      text += ", l" + std::to_string(i) + " = " + last + " ++ " + last;
    }
    return text + ", len(l" + std::to_string(times) + ") > 0 => x\n";
  };
  EXPECT_EQ(matches_on_relu(doubled(3)), 1u);
  EXPECT_EQ(matches_on_relu(doubled(40)), 0u);
}

TEST(HostileRules, RangesAreNoLongerThanWhatAGraphHas) {
  EXPECT_EQ(matches_on_relu("r: Relu(x), len(range(60000)) == 60000 => x\n"), 1u);
  EXPECT_EQ(matches_on_relu("r: Relu(x), len(range(70000)) == 70000 => x\n"), 0u);
  EXPECT_EQ(matches_on_relu("r: Relu(x), len(range(-2000000000000000000, 9223372036854775807)) > 0 => x\n"),
            0u);
}

// A negative size among the dims of a constant was taken for a symbol that nobody had named.
TEST(HostileRules, ConstantsOfNegativeSizesCannotBeMade) {
  EXPECT_EQ(matches_on_relu("r: Relu(x) => Mul(x, Values([2], [1, 1], x))\n"), 1u);
  EXPECT_EQ(matches_on_relu("r: Relu(x) => Mul(x, Values([2], [1, -1], x))\n"), 0u);
  EXPECT_EQ(matches_on_relu("r: Relu(x) => Mul(x, Full([1, -1], 2, x))\n"), 0u);
}

TEST(RuleSetExclude, TakesOneRuleOut) {
  RuleSet rules =
      RuleSet::parse("a: Relu(Relu(x)) => Relu(x)\nb: Neg(Neg(x)) => x\nc: Abs(Abs(x)) => Abs(x)\n", "x");
  rules.exclude("b");
  rules.exclude("none");
  ASSERT_EQ(rules.size(), 2u);
  EXPECT_EQ(rules.find("a"), 0u);
  EXPECT_EQ(rules.find("c"), 1u);
  GraphBuilder b;
  const Value x = b.input({2});
  b.output(b.op(OpKind::neg, {b.op(OpKind::neg, {x})}));
  b.output(b.op(OpKind::relu, {b.op(OpKind::relu, {x})}));
  const MatchIndex index(rules, b.graph());
  EXPECT_EQ(index.matches(0).size(), 1u);
  EXPECT_EQ(index.match_count(), 1u);
}

}  // namespace
}  // namespace regraft::rules::testing
