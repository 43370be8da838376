#include "core/proof/verify/verify.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>

#include "core/base/atomic_file.h"
#include "core/base/file.h"

namespace regraft::proof {
namespace {

using rules::RuleStatus;

constexpr const char* kRules =
    "good: Relu(Relu(x)) => Relu(x)\nbad: Relu(Neg(x)) => Neg(Relu(x))\nfew: Relu(x), x.0 == 77 => "
    "Relu(Relu(x))\n";

VerifyOptions quick() {
  VerifyOptions options;
  options.bounded.most_draws = 200;
  options.bounded.last_examples = options.bounded.most_examples;
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

// What the exact evaluation does not know decides nothing, and a proof without an example is none. What holds
// for any type of elements is proved.
TEST(Verify, KnowsWhatItDoesNotKnow) {
  const auto rules = rules::RuleSet::parse(
      "mod: Cast{to=1}(Cast{to=8}(x)), float(x) => Cast{1}(Cast{to=8}(Identity(x)))\n"
      "type: Mul(Mul(x, 2.0), y) => Mul(Mul(x, y), if dtype(x) == float32 then 2.0 else 2.0)\n"
      "guarded: Mul(Mul(x, 2.0), y), dtype(x) != float16 => Mul(Mul(x, y), 2.0)\n"
      "one-type: Mul(Mul(x, 2.0), y) => Mul(Mul(x, y), if dtype(x) == bfloat16 then 3.0 else 2.0)\n"
      "other-types: Mul(Mul(x, 2.0), y), dtype(x) != float16 => Mul(Mul(x, y), if dtype(x) == bfloat16 then "
      "3.0 else 2.0)\n",
      "a.rules");
  const auto verdicts = verify_rules(rules, {0, 1, 2, 3, 4}, quick(), [](const Verdict&) {});
  for (const std::size_t i : {0, 1, 2}) EXPECT_FALSE(verdicts[i].refuted) << verdicts[i].note;
  EXPECT_EQ(verdicts[0].status, RuleStatus::tested);
  for (const std::size_t i : {1, 2}) EXPECT_EQ(verdicts[i].status, RuleStatus::proved) << verdicts[i].rule;
  for (const std::size_t i : {3, 4}) EXPECT_NE(verdicts[i].status, RuleStatus::proved) << verdicts[i].rule;
}

TEST(Verify, WhatIsWrittenIsLoadedAndNothingElse) {
  const TempDir folder;
  std::filesystem::create_directories(folder.path() / "rules");
  write_file_atomic(folder.path() / "rules/a.rules", std::string_view(kRules));
  const auto all = rules::RuleSet::load(folder.path() / "rules", RuleStatus::tested);
  const auto verdicts = verify_rules(all, {0, 1}, quick(), [](const Verdict&) {});
  write_statuses(all, verdicts);
  const auto loaded = rules::RuleSet::load(folder.path() / "rules", RuleStatus::bounded_checked);
  ASSERT_EQ(loaded.size(), 1u);
  EXPECT_EQ(loaded.info(0).name, "good");
  EXPECT_EQ(loaded.info(0).status, RuleStatus::proved);
}

TEST(Verify, WhatIsKnownOfRulesThatAreGoneGoesWithTheNextWrite) {
  const TempDir folder;
  const std::filesystem::path file = folder.path() / "a.rules";
  const auto write = [&](const std::string& text, const std::vector<std::size_t>& checked) {
    write_file_atomic(file, text);
    const auto rules = rules::RuleSet::load(file, rules::RuleChoice::all());
    write_statuses(rules, verify_rules(rules, checked, quick(), [](const Verdict&) {}));
    return rules::StatusTable::load(file);
  };
  const std::string good = "good: Relu(Relu(x)) => Relu(x)\n", other = "other: Neg(Neg(x)) => x\n";
  const rules::StatusTable all = write(good + "gone: Neg(Neg(Relu(x))) => Relu(x)\n" + other, {0, 1, 2});
  EXPECT_EQ(all.proofs().size(), 3u);
  const rules::StatusTable left = write(good + other, {1});
  EXPECT_EQ(left.find("gone"), nullptr);
  EXPECT_EQ(left.proofs().find("gone"), nullptr);
  EXPECT_EQ(left.proofs().size(), 2u);
  ASSERT_NE(left.find("good"), nullptr) << "it was not checked this time";
  EXPECT_EQ(left.find("good")->status, RuleStatus::proved);
}

// A folder with the rule "bad", which is wrong, and "good".
struct Stored {
  Stored() {
    std::filesystem::create_directories(folder.path() / "rules");
    write_file_atomic(folder.path() / "rules/a.rules", std::string_view(kRules));
    all = rules::RuleSet::load(folder.path() / "rules", RuleStatus::tested);
    how = quick();
    how.stored_too = true;
  }
  std::string problem_of(std::size_t rule) const {
    return verify_rules(*all, {rule}, how, [](const Verdict&) {})[0].stored_problem;
  }
  std::filesystem::path file() const { return folder.path() / "rules/a.rules"; }
  /// Stores a proof of "good"; an empty one is none.
  void store(const std::string& proof) const {
    rules::StatusTable table = rules::StatusTable::load(file());
    table.proofs().set("good", proof);
    table.save(file());
  }

  TempDir folder;
  std::optional<rules::RuleSet> all;
  VerifyOptions how;
};

TEST(Verify, RunsStoredProofsAgainAndNamesThoseThatAreNone) {
  Stored s;
  write_statuses(*s.all, verify_rules(*s.all, {0}, quick(), [](const Verdict&) {}));
  EXPECT_EQ(s.problem_of(0), "");
  const std::string proof = *rules::StatusTable::load(s.file()).proofs().find("good");
  s.store(proof + "\n");
  EXPECT_EQ(s.problem_of(0), "its proof was changed");
  s.store("");
  EXPECT_EQ(s.problem_of(0), "its proof is missing");
  // One of the right hash that proves nothing.
  const std::string open = "(declare-fun n () Int)\n(assert (> n 0))\n(check-sat)\n";
  rules::StatusTable table = rules::StatusTable::load(s.file());
  table.proofs().set("good", open);
  table.set({"good", RuleStatus::proved, rules::StatusTable::hash_of(s.all->info(0)),
             rules::status_hash(open), ""});
  table.save(s.file());
  EXPECT_EQ(s.problem_of(0), "its stored proof does not answer unsat");
}

// A stored proof is not tied to what its rule says, so it promotes nothing, whichever checker it is said to
// be of: where the prover gives up, the rule is what its examples make of it.
TEST(Verify, AStoredProofThatStillRunsDoesNotMakeARuleProved) {
  Stored s;
  s.how.proof.work = 0;
  const std::string proof = "(assert false)\n(check-sat)\n";
  for (const std::uint32_t checker : {1u, rules::kChecker}) {
    rules::StatusTable table;
    table.proofs().set("good", proof);
    const std::string text = rules::StatusTable::hash_of(s.all->info(0));
    table.set({"good", RuleStatus::proved, text, rules::status_hash(proof), "", 4, checker});
    table.save(s.file());
    const Verdict verdict = verify_rule(s.all->info(0), s.how);
    EXPECT_EQ(verdict.stored_problem, "") << "it does run";
    EXPECT_EQ(verdict.status, RuleStatus::bounded_checked);
    EXPECT_EQ(verdict.proof, "");
  }
}

// The limit is on work that is counted, not on time.
TEST(Verify, GivesUpAtTheSamePlaceOnEveryRun) {
  const auto rules = rules::RuleSet::parse(
      "a: MatMul(MatMul(x, y), z), rank(x) >= 2, rank(y) >= 2, rank(z) >= 2 => MatMul(x, MatMul(y, z))\n",
      "twice");
  ProofOptions options;
  options.work = 1000;
  const ProofResult one = prove_rule(rules, 0, options), two = prove_rule(rules, 0, options);
  EXPECT_FALSE(one.proved);
  EXPECT_EQ(one.why_not, "more work than was allowed for");
  EXPECT_EQ(one.cases, two.cases);
}

// The hashes are no signature: a line written by hand loads, and the full check finds it out.
TEST(Verify, FindsOutALineThatWasWrittenByHand) {
  Stored s;
  const std::string proof = "(assert false)\n(check-sat)\n";
  rules::StatusTable table;
  table.proofs().set("bad", proof);
  table.set({"bad", RuleStatus::proved, rules::StatusTable::hash_of(s.all->info(1)),
             rules::status_hash(proof), ""});
  table.save(s.file());
  EXPECT_EQ(rules::RuleSet::load(s.folder.path() / "rules", RuleStatus::proved).size(), 1u);
  const Verdict verdict = verify_rules(*s.all, {1}, s.how, [](const Verdict&) {})[0];
  EXPECT_EQ(verdict.stored_problem, "") << "unsat, as it says";
  EXPECT_TRUE(verdict.refuted);
  EXPECT_EQ(verdict.status, RuleStatus::tested);
}

// Proofs are the same on every run: what is stored can be compared with what is made again.
TEST(Verify, MakesTheSameProofTwice) {
  const auto rules = rules::RuleSet::parse(
      "a: MatMul(MatMul(x, y), z), rank(x) >= 2, rank(y) >= 2, rank(z) >= 2 => MatMul(x, MatMul(y, z))\n"
      "b: Transpose{p}(f:Unary(x)) => f(Transpose{p}(x))\n",
      "twice");
  ProofOptions options;
  options.most_rank = 3;
  options.work = 200 * ProofOptions::kMillion;
  for (std::uint32_t rule = 0; rule < rules.size(); ++rule) {
    const ProofResult one = prove_rule(rules, rule, options), two = prove_rule(rules, rule, options);
    ASSERT_TRUE(one.proved) << one.why_not;
    EXPECT_EQ(one.smt, two.smt);
  }
}

const std::string kConfigs = std::string(REGRAFT_SOURCE_DIR) + "/configs";

// The statuses that are shipped belong to the rules that are shipped. The grid of one takes too long; no
// other may be left out.
TEST(Verify, EveryShippedRuleButOneIsProvedOrBounded) {
  const auto rules =
      rules::RuleSet::load(kConfigs + "/rules", {rules::RuleStatus::bounded_checked, {"com.microsoft"}});
  EXPECT_GE(rules.size(), 150u);
  for (const std::string& name : rules.left_out())
    if (name != "attention-op-masked-factors")
      ADD_FAILURE() << name << ": run 'regraft rules verify --write " << name << "'";
}

TEST(Verify, EveryStoredProofIsConfirmedByZ3AsALibraryAndAsAProgram) {
  const auto rules =
      rules::RuleSet::load(kConfigs + "/rules", {rules::RuleStatus::bounded_checked, {"com.microsoft"}});
  std::size_t proved = 0;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    EXPECT_EQ(check_stored_proof(rules.info(i), "z3"), "") << rules.info(i).name;
    proved += rules.info(i).status == RuleStatus::proved ? 1 : 0;
  }
  EXPECT_GE(proved, 100u);
}

}  // namespace
}
