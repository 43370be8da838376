#include "core/rules/set/status_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/rules/graph_builder.h"
#include "core/rules/lang/rule_error.h"
#include "core/rules/match/match_index.h"

namespace regraft::rules {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr const char* kRules =
    "one: Relu(Relu(x)) => Relu(x)\ntwo: Neg(Neg(x)) => x\nthree: Abs(Abs(x)) => Abs(x)\n";

// A folder with a file of rules, and its statuses beside it: one proved, two bounded_checked, three tested.
class Statuses : public ::testing::Test {
 protected:
  Statuses() {
    fs::create_directories(rules());
    write_file_atomic(rules() / "a.rules", std::string_view(kRules));
    const RuleSet all = RuleSet::parse(kRules, "a.rules");
    const std::string proof = "(assert false)\n(check-sat)\n";
    StatusTable table;
    table.proofs().set("one", proof);
    table.set({"one", RuleStatus::proved, StatusTable::hash_of(all.info(0)), status_hash(proof), "by hand"});
    table.set({"two", RuleStatus::bounded_checked, StatusTable::hash_of(all.info(1)), "-", ""});
    table.save(file());
  }

  fs::path rules() const { return folder_.path() / "rules"; }
  fs::path file() const { return rules() / "a.rules"; }
  fs::path status() const { return rules() / "a.status"; }
  fs::path proofs() const { return rules() / "a.proofs.tar.xz"; }
  void write_status(const std::string& text) const { write_file_atomic(status(), text); }
  std::vector<std::string> loaded(RuleStatus least) const {
    std::vector<std::string> names;
    const RuleSet set = RuleSet::load(rules(), least);
    for (std::size_t i = 0; i < set.size(); ++i) names.push_back(set.info(i).name);
    return names;
  }

 private:
  TempDir folder_;
};

TEST_F(Statuses, DecideWhatIsLoaded) {
  using ::testing::ElementsAre;
  EXPECT_THAT(loaded(RuleStatus::proved), ElementsAre("one"));
  EXPECT_THAT(loaded(RuleStatus::bounded_checked), ElementsAre("one", "two"));
  EXPECT_THAT(loaded(RuleStatus::tested), ElementsAre("one", "two", "three"));
  EXPECT_THAT(RuleSet::load(rules()).left_out(), ElementsAre("three"));
  EXPECT_EQ(RuleSet::load(rules() / "a.rules").size(), 2u);
}

// Rules of the same name in other files, in this folder or in another, have statuses of their own.
TEST_F(Statuses, BelongToOneFile) {
  EXPECT_EQ(StatusTable::path_of(file()), status());
  EXPECT_EQ(StatusTable::path_of("mine"), "mine.status");
  write_file_atomic(rules() / "b.rules", std::string_view("four: Relu(Relu(x)) => Relu(x)\n"));
  fs::copy_file(status(), rules() / "b.status");
  EXPECT_EQ(loaded(RuleStatus::bounded_checked).size(), 2u)
      << "a line of another name says nothing of rule four";
  const fs::path other = rules() / "sub";
  fs::create_directories(other);
  write_file_atomic(other / "a.rules", std::string_view(kRules));
  EXPECT_THROW(RuleSet::load(other), RuleError) << "none of these is more than tested";
  EXPECT_EQ(RuleSet::load(rules(), RuleStatus::tested).info(3).file, rules() / "b.rules");
}

TEST_F(Statuses, AreLostWithAnEditOfTheRule) {
  std::string text = kRules;
  text.replace(text.find("Neg(Neg(x)) => x"), 16, "Neg(Neg(x)) => Abs(x)");
  text.replace(text.find("Relu(Relu(x)) => Relu(x)"), 24, "Relu(Relu(x)) => x");
  write_file_atomic(rules() / "a.rules", text);
  EXPECT_EQ(RuleSet::load(rules(), RuleStatus::tested).info(0).status, RuleStatus::tested);
  EXPECT_THROW(RuleSet::load(rules()), RuleError);
}

TEST_F(Statuses, OfAProofThatWasChangedOrLostAreNoMoreThanTested) {
  StatusTable table = StatusTable::load(file());
  table.proofs().set("one", "(assert false)\n(check-sat) \n");
  table.save(file());
  EXPECT_EQ(RuleSet::load(rules(), RuleStatus::tested).info(0).status, RuleStatus::tested);
  fs::remove(proofs());
  EXPECT_EQ(RuleSet::load(rules(), RuleStatus::tested).info(0).status, RuleStatus::tested);
}

TEST_F(Statuses, ThatCannotBeReadNameFileLineAndColumn) {
  const auto problem = [&](const std::string& text) -> std::string {
    write_status(text);
    try {
      RuleSet::load(rules());
    } catch (const RuleError& e) {
      return e.what();
    }
    return "accepted";
  };
  const std::string hash(32, 'a');
  EXPECT_THAT(problem("# comment\none proven " + hash + " -\n"),
              HasSubstr("a.status:2:5: unknown status 'proven'"));
  EXPECT_THAT(problem("one proved abc -\n"), HasSubstr("a.status:1:12: no SHA-256"));
  EXPECT_THAT(problem("one proved\n"), HasSubstr("a line is 'rule status"));
  EXPECT_THAT(
      problem("one tested " + hash + " -\n# comment\none bounded_checked " + hash + " -\n"),
      HasSubstr("a.status:3:1: a second status of rule 'one', whose first is in line 1 (remove line 1 or "
                "3, and run 'regraft rules verify --write one')"));
  EXPECT_THAT(problem("one pro\x1bved " + hash + " -\n"), HasSubstr("unknown status 'pro\\x1bved' (one of"));
  for (const char* status : {"proved:", "proved:2", "proved:44", "proved:x", "bounded_checked:4"})
    EXPECT_THAT(problem("one " + std::string(status) + " " + hash + " -\n"),
                HasSubstr("a.status:1:5: unknown"));
}

TEST_F(Statuses, OfAFolderInPlaceOfTheirFileAreAnError) {
  fs::remove(status());
  fs::create_directories(status());
  try {
    RuleSet::load(rules());
    FAIL() << "accepted";
  } catch (const RuleError& e) {
    EXPECT_THAT(e.what(), HasSubstr("no readable file"));
    EXPECT_THAT(e.what(), HasSubstr("a.status"));
  }
}

TEST_F(Statuses, OfProvedRulesSayForWhichRanks) {
  const RuleSet all = RuleSet::load(rules(), RuleStatus::tested);
  StatusTable table = StatusTable::load(file());
  EXPECT_EQ(table.proved_ranks(all.info(0)), 3u) << "no proof is for fewer";
  StatusLine line = *table.find("one");
  line.ranks = 5;
  table.set(line);
  write_status(table.text());
  EXPECT_EQ(StatusTable::load(file()).proved_ranks(all.info(0)), 5u);
}

TEST_F(Statuses, OfProofsThatFailBeyondTheirRanksAreForTheseAlone) {
  const auto matches = [&](std::size_t rank, RuleStatus least) {
    const RuleSet set = RuleSet::load(rules(), least);
    graph::GraphBuilder b;
    const graph::Value x = b.input(std::vector<std::int64_t>(rank, 2));
    b.output(b.op(graph::OpKind::relu, {b.op(graph::OpKind::relu, {x})}));
    return MatchIndex(set, b.graph()).matches(*set.find("one")).size();
  };
  EXPECT_EQ(matches(4, RuleStatus::bounded_checked), 1u);
  EXPECT_EQ(matches(4, RuleStatus::proved), 0u);
  StatusTable table = StatusTable::load(file());
  StatusLine line = *table.find("one");
  line.only = true;
  table.set(line);
  write_status(table.text());
  EXPECT_THAT(read_file(status()), HasSubstr("one proved:3-only "));
  EXPECT_TRUE(StatusTable::load(file()).find("one")->only);
  EXPECT_EQ(matches(3, RuleStatus::bounded_checked), 1u);
  EXPECT_EQ(matches(4, RuleStatus::bounded_checked), 0u);
}

TEST_F(Statuses, OfAnOlderCheckerCountAndAreTold) {
  const RuleSet all = RuleSet::load(rules(), RuleStatus::tested);
  const std::string before = StatusTable::load(file()).text();
  EXPECT_FALSE(StatusTable::load(file()).found_by_older(all.info(0)));
  std::string text = before;  // as lines were before they named the checker
  const std::string checker = " v" + std::to_string(kChecker);
  for (std::size_t at; (at = text.find(checker)) != std::string::npos;) text.erase(at, checker.size());
  write_status(text);
  const StatusTable older = StatusTable::load(file());
  EXPECT_TRUE(older.found_by_older(all.info(0)));
  EXPECT_TRUE(older.found_by_older(all.info(1)));
  EXPECT_FALSE(older.found_by_older(all.info(2))) << "it has no line";
  EXPECT_EQ(older.find("one")->note, "by hand");
  EXPECT_EQ(older.of(all.info(0)), RuleStatus::proved);
  EXPECT_EQ(older.of(all.info(1)), RuleStatus::bounded_checked);
  std::string former = older.text();
  former.replace(former.find("bounded_checked"), std::string("bounded_checked").size(), "bounded");
  write_status(former);
  EXPECT_EQ(StatusTable::load(file()).of(all.info(1)), RuleStatus::bounded_checked) << "its former name";
  write_status(older.text());  // says v1, and is read back as such
  EXPECT_TRUE(StatusTable::load(file()).found_by_older(all.info(0)));
  EXPECT_EQ(StatusTable::load(file()).text(), older.text());
}

TEST_F(Statuses, WithLongerHashesOfBeforeCount) {
  const RuleSet all = RuleSet::load(rules(), RuleStatus::tested);
  const std::string text = StatusTable::load(file()).text(), hash = StatusTable::hash_of(all.info(1));
  for (const std::size_t digits : {32, 64}) {
    std::string longer = text;
    longer.replace(longer.find(hash), hash.size(), hash + std::string(digits - hash.size(), '0'));
    write_status(longer);
    EXPECT_EQ(StatusTable::load(file()).of(all.info(1)), RuleStatus::bounded_checked);
  }
}

TEST_F(Statuses, OfANewerCheckerCountAndAreTold) {
  const RuleSet all = RuleSet::load(rules(), RuleStatus::tested);
  StatusTable table = StatusTable::load(file());
  EXPECT_FALSE(table.found_by_newer(all.info(0)));
  StatusLine line = *table.find("one");
  line.checker = kChecker + 1;
  table.set(line);
  write_status(table.text());
  const StatusTable newer = StatusTable::load(file());
  EXPECT_TRUE(newer.found_by_newer(all.info(0)));
  EXPECT_FALSE(newer.found_by_older(all.info(0)));
  EXPECT_FALSE(newer.found_by_newer(all.info(1)));
  EXPECT_FALSE(newer.found_by_newer(all.info(2))) << "it has no line";
  EXPECT_EQ(newer.of(all.info(0)), RuleStatus::proved);
}

TEST_F(Statuses, DropProofsThatNoLineNames) {
  StatusTable table = StatusTable::load(file());
  table.proofs().set("two", "of when it was proved");
  table.keep_only({"one", "two"});
  EXPECT_TRUE(table.proofs().find("one"));
  EXPECT_FALSE(table.proofs().find("two"));
  EXPECT_TRUE(table.find("two"));
}

TEST_F(Statuses, ReadBackAsWritten) {
  const StatusTable table = StatusTable::load(file());
  write_status(table.text());
  EXPECT_EQ(StatusTable::load(file()).text(), table.text());
  EXPECT_EQ(table.find("one")->note, "by hand");
}

}  // namespace
}
