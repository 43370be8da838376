#include "core/rules/set/proof_archive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/base/process.h"
#include "core/rules/set/rule_set.h"
#include "core/rules/set/status_table.h"

namespace regraft::rules {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(ProofArchive, LiesBesideItsRules) {
  EXPECT_EQ(ProofArchive::path_of("a/mine.rules"), "a/mine.proofs.tar.xz");
  EXPECT_EQ(ProofArchive::path_of("mine"), "mine.proofs.tar.xz");
  EXPECT_EQ(ProofArchive::member_of("pool/max"), "pool.max.smt2");
}

TEST(ProofArchive, HoldsWhatWasSetLast) {
  const TempDir folder;
  const fs::path rules = folder.path() / "a.rules";
  ProofArchive archive = ProofArchive::load(rules);
  EXPECT_EQ(archive.size(), 0u) << "there is no file";
  archive.set("one", "(check-sat)\n");
  archive.set("two/x", "first");
  archive.set("two/x", "second");
  archive.save(rules);
  archive = ProofArchive::load(rules);
  EXPECT_EQ(archive.size(), 2u);
  EXPECT_EQ(*archive.find("one"), "(check-sat)\n");
  EXPECT_EQ(*archive.find("two/x"), "second");
  EXPECT_EQ(archive.find("three"), nullptr);
  for (const char* rule : {"one", "two/x"}) archive.set(rule, "");
  archive.save(rules);
  EXPECT_FALSE(fs::exists(ProofArchive::path_of(rules))) << "nothing is in it";
}

TEST(ProofArchive, TruncatedOrDamagedIsAnErrorWithPathAndRemedy) {
  const TempDir folder;
  const fs::path rules = folder.path() / "a.rules", path = ProofArchive::path_of(rules);
  ProofArchive archive;
  archive.set("one", std::string(5000, 'x'));
  archive.save(rules);
  const std::string whole = read_file(path);
  std::string changed = whole;
  changed[whole.size() / 2] = static_cast<char>(changed[whole.size() / 2] ^ 1);
  for (const std::string& bytes :
       {whole.substr(0, whole.size() - 1), whole.substr(0, 5), std::string(), changed}) {
    write_file_atomic(path, bytes);
    try {
      ProofArchive::load(rules);
      ADD_FAILURE() << "accepted " << bytes.size() << " of " << whole.size() << " bytes";
    } catch (const RuleError& e) {
      EXPECT_THAT(e.what(),
                  AllOf(HasSubstr(path.string() + ": the archive of proofs is truncated or damaged"),
                        HasSubstr("remove it and run 'regraft rules verify --write'")));
    }
  }
}

// What is shipped is what save() writes, byte for byte; `tar xf` reads it, too.
TEST(ProofArchive, OfTheShippedRulesIsTheSameBytesWhenWrittenAgain) {
  std::size_t archives = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(REGRAFT_SOURCE_DIR) / "configs/rules")) {
    if (entry.path().extension() != ".rules" || !fs::exists(ProofArchive::path_of(entry.path()))) continue;
    const TempDir folder;
    const fs::path rules = folder.path() / entry.path().filename(),
                   shipped = ProofArchive::path_of(entry.path());
    const ProofArchive archive = ProofArchive::load(entry.path());
    StatusTable statuses = StatusTable::load(entry.path());
    std::set<std::string, std::less<>> named;
    const RuleSet all = RuleSet::load(entry.path(), RuleStatus::tested);
    for (std::size_t i = 0; i < all.size(); ++i) named.insert(all.info(i).name);
    statuses.keep_only(named);
    EXPECT_EQ(statuses.proofs().size(), archive.size()) << "a proof that no status names";
    archive.save(rules);
    EXPECT_EQ(read_file(ProofArchive::path_of(rules)), read_file(shipped)) << shipped;
    const Captured told = capture_output({.argv = {"tar", "xf", shipped, "-C", folder.path().string()}});
    ASSERT_EQ(told.status.code, 0) << told.errors;
    std::size_t unpacked = 0;
    for (const auto& file : fs::directory_iterator(folder.path())) {
      if (file.path().extension() != ".smt2") continue;
      EXPECT_EQ(*archive.find(file.path().stem().string()), read_file(file.path())) << file.path();
      ++unpacked;
    }
    EXPECT_EQ(unpacked, archive.size());
    ++archives;
  }
  EXPECT_EQ(archives, 7u);
}

}  // namespace
}
