#include "core/synth/verify.h"

#include <gtest/gtest.h>

#include "core/base/file.h"

namespace regraft::synth {
namespace {

using rules::RuleStatus;

constexpr const char* kRules =
    "good: Relu(Relu(x)) => Relu(x)\nbad: Relu(Neg(x)) => Neg(Relu(x))\nfew: Relu(x), x.0 == 77 => "
    "Relu(Relu(x))\n";

VerifyOptions quick() {
  VerifyOptions options;
  options.bounded.most_draws = 200;
  options.jobs = 2;
  return options;
}

TEST(Verify, GivesEachRuleTheStatusThatItEarns) {
  const auto rules = rules::RuleSet::parse(kRules, "a.rules");
  std::size_t reported = 0;
  const auto verdicts = verify_rules(rules, {0, 1, 2}, quick(), [&](const Verdict&) { ++reported; });
  ASSERT_EQ(verdicts.size(), 3u);
  EXPECT_EQ(reported, 3u);
  EXPECT_EQ(verdicts[0].status, RuleStatus::proved) << verdicts[0].why_not_proved;
  EXPECT_FALSE(verdicts[0].proof.empty());
  EXPECT_TRUE(verdicts[1].refuted);
  EXPECT_EQ(verdicts[1].status, RuleStatus::tested);
}

TEST(Verify, WhatCannotBeTriedOrFollowedIsNotProvedAndEndsNoRun) {
  const auto rules = rules::RuleSet::parse(
      "casts: Cast{to=t}(Cast{to=t}(x)) => Cast{to=t}(x)\nnorm: Neg(Neg(InstanceNormalization{eps}(x, s, "
      "b))) => "
      "InstanceNormalization{eps}(x, s, b)\ngood: Relu(Relu(x)) => Relu(x)\n",
      "a.rules");
  const auto verdicts = verify_rules(rules, {0, 1, 2}, quick(), [](const Verdict&) {});
  for (const std::size_t i : {0, 1}) {
    EXPECT_NE(verdicts[i].status, RuleStatus::proved) << verdicts[i].rule;
    EXPECT_FALSE(verdicts[i].refuted) << verdicts[i].note;
  }
  EXPECT_EQ(verdicts[2].status, RuleStatus::proved);
}

TEST(Verify, WhatIsWrittenIsLoadedAndNothingElse) {
  const TempDir folder;
  std::filesystem::create_directories(folder.path() / "rules");
  write_file_atomic(folder.path() / "rules/a.rules", std::string_view(kRules));
  const auto all = rules::RuleSet::load(folder.path() / "rules", RuleStatus::tested);
  const auto verdicts = verify_rules(all, {0, 1}, quick(), [](const Verdict&) {});
  write_statuses(rules::StatusTable::folder_of(folder.path() / "rules"), all, verdicts);
  const auto loaded = rules::RuleSet::load(folder.path() / "rules", RuleStatus::bounded);
  ASSERT_EQ(loaded.size(), 1u);
  EXPECT_EQ(loaded.info(0).name, "good");
  EXPECT_EQ(loaded.info(0).status, RuleStatus::proved);
}

// The statuses that are shipped belong to the rules that are shipped.
TEST(Verify, EveryShippedRuleIsProvedOrBounded) {
  const auto rules = rules::RuleSet::load(std::string(REGRAFT_SOURCE_DIR) + "/configs/rules");
  EXPECT_GE(rules.size(), 150u);
  for (const std::string& name : rules.left_out())
    ADD_FAILURE() << name << ": run 'regraft rules verify --write " << name << "'";
}

}  // namespace
}  // namespace regraft::synth
