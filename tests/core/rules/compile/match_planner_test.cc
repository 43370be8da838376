// The walk of matching, planned for rules that no text was read for.
#include "core/rules/compile/match_planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/rules/lang/rule_error.h"

namespace regraft::rules {
namespace {

using graph::OpKind;
using ::testing::HasSubstr;
using Via = Step::Via;

constexpr Slot plain(std::uint16_t index) {
  return {-1, index};
}

Check asks(Function function, Slot tensor) {
  Check check;
  check.code = Code::make(Code::Form::call, {5, 9});
  check.code.function = function;
  check.code.tensors = {tensor};
  return check;
}

class MatchPlannerTest : public ::testing::Test {
 protected:
  MatchPlannerTest() { rule.frames.resize(1); }

  void node(OpKind kind, const std::vector<Slot>& operands, Slot output) {
    PatternNode made;
    made.kinds.set(static_cast<std::size_t>(kind));
    for (const Slot slot : operands) made.operands.push_back({slot});
    made.outputs.push_back({output});
    made.member_set = output.member_set;
    rule.nodes.push_back(std::move(made));
  }
  void plan(std::vector<Check> checks = {}) {
    MatchPlanner(rule, reporter, constants).plan(std::move(checks));
  }
  std::string error(std::vector<Check> checks = {}) {
    try {
      plan(std::move(checks));
    } catch (const RuleError& error) {
      return error.what();
    }
    return "no error";
  }
  /// Node and way of each step.
  std::vector<std::pair<std::size_t, Via>> walk() const {
    std::vector<std::pair<std::size_t, Via>> out;
    for (const Step& step : rule.steps) out.emplace_back(step.node, step.via);
    return out;
  }

  CompiledRule rule;
  std::set<Slot> constants;
  RuleReporter reporter{"mine.rules", "made", {2, 1}};
};

using Walk = std::vector<std::pair<std::size_t, Via>>;

TEST_F(MatchPlannerTest, GoesFromTheRootToItsProducers) {
  node(OpKind::relu, {plain(0)}, plain(1));
  node(OpKind::add, {plain(1), plain(2)}, plain(3));
  plan();
  EXPECT_EQ(walk(), (Walk{{1, Via::anchor}, {0, Via::producer}}));
  EXPECT_TRUE(rule.anchors.test(static_cast<std::size_t>(OpKind::add)));
  EXPECT_EQ(rule.depth, 1u);
  EXPECT_EQ(rule.leaves, (std::vector<Slot>{plain(0), plain(2)}));
}

TEST_F(MatchPlannerTest, ReachesASecondRootThroughWhatBothRead) {
  node(OpKind::relu, {plain(0)}, plain(1));
  node(OpKind::neg, {plain(0)}, plain(2));
  plan();
  EXPECT_EQ(walk(), (Walk{{0, Via::anchor}, {1, Via::consumer}}));
}

TEST_F(MatchPlannerTest, ConstantsDoNotConnectAPattern) {
  node(OpKind::relu, {plain(0)}, plain(1));
  node(OpKind::neg, {plain(0)}, plain(2));
  constants.insert(plain(0));
  EXPECT_THAT(error(), HasSubstr("shares no activation with the rest"));
}

TEST_F(MatchPlannerTest, AsksEachCheckAtTheFirstStepThatKnowsWhatItReads) {
  node(OpKind::relu, {plain(0)}, plain(1));
  node(OpKind::add, {plain(1), plain(2)}, plain(3));
  Check let = asks(Function::rank, plain(0));  // bound at the second step
  let.target = plain(0);
  Check reads;
  reads.code = Code::make(Code::Form::compare, {}, {Code::of(plain(0), {}), Code::of(plain(0), {})}, "==");
  plan({reads, asks(Function::is_const, plain(2)), let});
  ASSERT_EQ(rule.steps.size(), 2u);
  ASSERT_EQ(rule.steps[0].checks.size(), 1u);
  EXPECT_EQ(rule.steps[0].checks[0].code.function, Function::is_const);
  ASSERT_EQ(rule.steps[1].checks.size(), 2u);
  EXPECT_TRUE(rule.steps[1].checks[0].target) << "before what reads it";
}

TEST_F(MatchPlannerTest, RefusesACheckOfWhatNothingBinds) {
  node(OpKind::relu, {plain(0)}, plain(1));
  EXPECT_THAT(error({asks(Function::rank, plain(7))}),
              HasSubstr("mine.rules:5:9: rule 'made': a guard or binding reads a name that nothing"));
}

TEST_F(MatchPlannerTest, MembersOfASetOfSiblingsShareAnOperand) {
  rule.member_sets.push_back({"i", false});
  rule.frames.emplace_back();
  node(OpKind::matmul, {plain(0), Slot{0, 0}}, Slot{0, 1});
  constants.insert(Slot{0, 0});
  plan();
  EXPECT_TRUE(rule.is_siblings());
  EXPECT_EQ(rule.shared, (std::vector<Slot>{plain(0)}));
  EXPECT_TRUE(rule.members_share_activation);
}

TEST_F(MatchPlannerTest, ASetOfSiblingsThatShareNothingIsRefusedAtTheRule) {
  rule.member_sets.push_back({"i", false});
  rule.frames.emplace_back();
  node(OpKind::relu, {Slot{0, 0}}, Slot{0, 1});
  EXPECT_THAT(error(), HasSubstr("mine.rules:2:1: rule 'made': the members of the set share no operand"));
}

}  // namespace
}
