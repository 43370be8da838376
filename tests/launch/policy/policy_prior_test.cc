#include "launch/policy/policy_prior.h"

#include <gtest/gtest.h>

namespace regraft::launch {
namespace {

TEST(UnseenNote, NamesTheRulesThatMatchedNowhereInTraining) {
  const auto rules = rules::RuleSet::parse(
      "known: Relu(Relu(x)) => Relu(x)\nidle: Neg(Neg(x)) => x\nnewer: Abs(Abs(x)) => Abs(x)\n", "a.rules");
  nn::PolicyFile policy;
  policy.rule_names = {"known", "idle"};
  policy.training_record = "{}";
  EXPECT_EQ(unseen_note(policy, rules),
            "1 of these 3 rules matched nowhere when the policy was trained: newer");
  policy.training_record = R"({"matched_rules": ["known"]})";
  EXPECT_EQ(unseen_note(policy, rules),
            "2 of these 3 rules matched nowhere when the policy was trained: idle, newer");
  policy.training_record = R"({"matched_rules": ["known", "idle", "newer"]})";
  EXPECT_EQ(unseen_note(policy, rules), "");
}

}  // namespace
}
