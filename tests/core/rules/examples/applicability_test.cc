#include "core/rules/examples/applicability.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace regraft::rules {
namespace {

using ::testing::HasSubstr;

Applicability tried(const std::string& rule, std::size_t most = 2000) {
  return try_rule(RuleSet::parse(rule + "\n", "tried.rules").info(0), most);
}

TEST(Applicability, FindsWhatARuleAppliesTo) {
  for (const char* rule : {"r: Relu(Relu(x)) => Relu(x)",
                           "r: y@ = MatMul(x, w@) => z = MatMul(x, Concat{1}(w@...)); "
                           "(y@...) = Split{rank(z) - 1, [w@.1...]}(z)"}) {
    const Applicability found = tried(rule);
    EXPECT_TRUE(found.applies) << rule;
    EXPECT_EQ(found.why_not(), "");
  }
}

TEST(Applicability, SaysWhyThereIsNothing) {
  const auto why = [](const std::string& rule) { return tried(rule).why_not(); };
  EXPECT_THAT(why("r: Relu(x), rank(x) == 1, rank(x) == 2 => x"), HasSubstr("its guards held in none of"));
  EXPECT_THAT(why("r: Relu(x), x.99 > 1 => x"), HasSubstr("its guards held in none of"));
  EXPECT_THAT(why("r: Relu(x) => Softmax{9}(x)"), HasSubstr("it was no match in any"));
}

TEST(Applicability, SaysWhatToLookAt) {
  EXPECT_EQ(tried("r: Relu(Relu(x)) => Relu(x)").remedy(), "");
  EXPECT_THAT(tried("r: Relu(x), x.99 > 1 => x").remedy(), HasSubstr("guards"));
  EXPECT_THAT(tried("r: Relu(x) => Softmax{9}(x)").remedy(), HasSubstr("right side"));
  EXPECT_THAT(Applicability().remedy(), HasSubstr("dims and attributes"));
}

TEST(Applicability, MakesNoExamplesOfManyDims) {
  for (const char* rank : {"== 60", "== 100000000", ">= 9223372036854775807"})
    EXPECT_FALSE(tried("r: Relu(x), rank(x) " + std::string(rank) + " => Neg(Neg(Relu(x)))", 200).applies);
}

TEST(Applicability, AWholeNumberMayStandForARealAttribute) {
  EXPECT_TRUE(tried("r: Neg(x) => Neg(Clip{min=0, max=6}(Neg(x)))").applies);
  EXPECT_TRUE(tried("r: Clip{min=a, max=b}(x), a < b => Neg(Clip{0 - b, 0 - a}(Neg(x)))").applies);
}

// The same examples every time, and no more than are needed.
TEST(Applicability, StopsAtTheFirstAndIsTheSameEveryTime) {
  const Applicability one = tried("r: MatMul(x, w), const(w), rank(x) == 3 => MatMul(x, w + 0)");
  const Applicability two = tried("r: MatMul(x, w), const(w), rank(x) == 3 => MatMul(x, w + 0)");
  EXPECT_TRUE(one.applies);
  EXPECT_EQ(one.examples, two.examples);
  EXPECT_LT(one.examples, 2000u);
  EXPECT_EQ(tried("r: Relu(x), x.99 > 1 => x", 50).examples, 50u);
}

}  // namespace
}
