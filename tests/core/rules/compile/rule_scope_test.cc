#include "core/rules/compile/rule_scope.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "core/rules/lang/rule_error.h"

namespace regraft::rules {
namespace {

using ::testing::HasSubstr;

Expr name(const std::string& text, const std::string& set = "") {
  Expr e;
  e.form = Expr::Form::name;
  e.text = text;
  e.member_set = set;
  e.member = !set.empty();
  e.at = {3, 7};
  return e;
}

Expr sum(Expr a, Expr b) {
  Expr e;
  e.form = Expr::Form::infix;
  e.text = "+";
  e.args = {std::move(a), std::move(b)};
  return e;
}

class RuleScopeTest : public ::testing::Test {
 protected:
  RuleScopeTest() { rule.frames.resize(1); }

  static std::string error_of(const std::function<void()>& act) {
    try {
      act();
    } catch (const RuleError& error) {
      return error.what();
    }
    return "no error";
  }

  CompiledRule rule;
  RuleReporter reporter{"mine.rules", "swap", {2, 1}};
  RuleScope left{rule, reporter};
};

TEST_F(RuleScopeTest, ANameHasOneSlotInTheFrameOfItsSet) {
  const Slot x = left.tensor("x", false, "", {}), w = left.tensor("w", true, "i", {});
  EXPECT_EQ(left.tensor("w", true, "i", {}), w);
  EXPECT_EQ(x, (Slot{-1, 0}));
  EXPECT_EQ(w, (Slot{0, 0}));
  EXPECT_EQ(left.quantity(name("k")), (Slot{-1, 0})) << "quantities are counted for themselves";
  ASSERT_EQ(rule.frames.size(), 2u);
  EXPECT_EQ(rule.frames[1].tensors, 1u);
  EXPECT_EQ(rule.member_sets[0].name, "i");
  EXPECT_EQ(left.name_of(w), "w");
  EXPECT_EQ(left.name_of({0, 5}), std::nullopt);
}

TEST_F(RuleScopeTest, TheInnerScopeHidesTheOuterAndLeavesItAsItWas) {
  const Slot x = left.tensor("x", false, "", {});
  RuleScope right(&left);
  EXPECT_EQ(right.known_tensor(name("x")), x);
  EXPECT_EQ(right.find_own("x"), nullptr);
  right.bind("x", {Sort::tensor, right.fresh(Sort::tensor, -1), {}});
  EXPECT_EQ(right.known_tensor(name("x")), (Slot{-1, 1}));
  EXPECT_EQ(left.known_tensor(name("x")), x);
}

TEST_F(RuleScopeTest, ANameIsBoundForAWhileAndThenWhatItWas) {
  left.bind("d", {Sort::constant, {}, Quantity::of(std::int64_t{3})});
  left.bind_during("d", {Sort::quantity, {}, {}}, [&] { EXPECT_EQ(left.find("d")->sort, Sort::quantity); });
  EXPECT_EQ(left.find("d")->sort, Sort::constant);
  left.bind_during("e", {Sort::quantity, {}, {}}, [&] { EXPECT_NE(left.find("e"), nullptr); });
  EXPECT_EQ(left.find("e"), nullptr);
}

TEST_F(RuleScopeTest, AnUnknownNameIsComparedWithThoseOfBothScopes) {
  left.tensor("weights", false, "", {});
  RuleScope right(&left);
  right.bind("result", {});
  EXPECT_THAT(error_of([&] { right.unknown_name(name("weigths"), "an operand"); }),
              ::testing::AllOf(HasSubstr("mine.rules:3:7: rule 'swap': 'weigths' is not determined"),
                               HasSubstr("did you mean 'weights'")));
  EXPECT_THAT(error_of([&] { right.unknown_name(name("resutl"), "an operand"); }), HasSubstr("'result'"));
  EXPECT_THAT(error_of([&] { left.unknown_name(name("resutl"), "an operand"); }),
              HasSubstr("bind it there as an operand"));
}

TEST_F(RuleScopeTest, AnExpressionVariesWithOneSetAtMost) {
  EXPECT_EQ(left.member_set_of(sum(name("a"), name("b"))), -1);
  EXPECT_EQ(left.member_set_of(sum(name("a", "i"), name("b"))), 0);
  EXPECT_EQ(left.member_set_of(sum(name("a"), name("b", "j"))), 1);
  Expr spread;
  spread.form = Expr::Form::spread;
  spread.args = {name("a", "i")};
  EXPECT_EQ(left.member_set_of(sum(spread, name("b", "j"))), 1) << "all members at once";
  EXPECT_THAT(error_of([&] { left.member_set_of(sum(name("a", "i"), name("b", "j"))); }),
              HasSubstr("members of two sets"));
}

TEST_F(RuleScopeTest, ANameIsOfOneSortAndOneSet) {
  left.tensor("x", false, "", {});
  left.quantity(name("k"));
  EXPECT_THAT(error_of([&] { left.tensor("k", false, "", {}); }), HasSubstr("something else before"));
  EXPECT_THAT(error_of([&] { left.tensor("x", true, "i", {}); }), HasSubstr("both with and without '@'"));
  EXPECT_THAT(error_of([&] { left.quantity(name("k", "i")); }), HasSubstr("both with and without '@'"));
  EXPECT_THAT(error_of([&] { left.known_tensor(name("k")); }), HasSubstr("'k' is no tensor"));
  EXPECT_THAT(error_of([&] { left.known_tensor(name("x", "i")); }), HasSubstr("the same for all members"));
}

}  // namespace
}
