#include "core/rules/compile/find_locality.h"

#include <gtest/gtest.h>

namespace regraft::rules {
namespace {

Code call(Function function) {
  Code c = Code::make(Code::Form::call, {});
  c.function = function;
  return Code::make(Code::Form::negation, {}, {c});  // seen within others, too
}

CompiledRule one_step() {
  CompiledRule rule;
  rule.steps.emplace_back();
  return rule;
}

TEST(FindLocality, ARuleOfDimsAloneIsLocal) {
  CompiledRule rule = one_step();
  rule.steps[0].checks.push_back({call(Function::rank), {}, -1});
  find_locality(rule);
  EXPECT_TRUE(rule.local);
  EXPECT_TRUE(rule.decided_by_bindings);
}

TEST(FindLocality, UsesThatTheWalkCountsAreNotLocalButDecidedOnceItIsDone) {
  for (const Function counts : {Function::uses, Function::output}) {
    CompiledRule rule = one_step();
    rule.steps[0].checks.push_back({call(counts), {}, -1});
    find_locality(rule);
    EXPECT_FALSE(rule.local);
    EXPECT_TRUE(rule.decided_by_bindings);
  }
}

TEST(FindLocality, UsesThatAreCountedAfterTheWalkDecideLater) {
  CompiledRule of_set = one_step();
  of_set.set_checks.push_back({call(Function::uses), {}, -1});
  CompiledRule of_code = one_step(), of_attribute = one_step(), of_operand = one_step();
  for (CompiledRule* rule : {&of_code, &of_attribute, &of_operand}) rule->right.emplace_back();
  of_code.right[0].codes.push_back(call(Function::uses));
  of_attribute.right[0].attrs.emplace_back(graph::Attr::axis, call(Function::uses));
  of_operand.right[0].operands.emplace_back().number = call(Function::uses);
  for (CompiledRule* rule : {&of_set, &of_code, &of_attribute, &of_operand}) {
    find_locality(*rule);
    EXPECT_FALSE(rule->decided_by_bindings);
    EXPECT_FALSE(rule->local);
  }
}

TEST(FindLocality, AWalkToUsersIsNotLocal) {
  CompiledRule rule = one_step();
  rule.steps.emplace_back().via = Step::Via::consumer;
  find_locality(rule);
  EXPECT_FALSE(rule.local);
  EXPECT_TRUE(rule.decided_by_bindings);
}

TEST(FindLocality, SiblingsThatAreComparedByTheirUsesAreNotLocal) {
  CompiledRule same = one_step(), order = one_step();
  same.same.push_back(call(Function::uses));
  order.order.push_back(call(Function::uses));
  for (CompiledRule* rule : {&same, &order}) {
    find_locality(*rule);
    EXPECT_FALSE(rule->local);
    EXPECT_TRUE(rule->decided_by_bindings);
  }
}

}  // namespace
}
