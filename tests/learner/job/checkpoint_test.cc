#include "learner/job/checkpoint.h"

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/atomic_file.h"
#include "core/base/file.h"

namespace regraft::learner {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
  return {bytes.begin(), bytes.end()};
}

Checkpoint sample(std::uint64_t number, const std::string& weights = "weights") {
  return {number,
          R"({"updates":)" + std::to_string(number) + "}",
          {{"weights", bytes_of(weights)}, {"optimiser", bytes_of("o")}}};
}

std::vector<std::string> entries(const fs::path& folder) {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  return names;
}

class CheckpointTest : public ::testing::Test {
 protected:
  std::optional<Checkpoint> newest() { return CheckpointStore(dir.path(), 3).load_newest(problems); }
  TempDir dir;
  std::vector<std::string> problems;
};

TEST_F(CheckpointTest, WhatWasSavedComesBack) {
  CheckpointStore(dir.path(), 3).save(sample(7));
  const auto loaded = newest();
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->number, 7u);
  EXPECT_EQ(loaded->parts, sample(7).parts);
  EXPECT_EQ(loaded->state, R"({"updates":7})");
}

TEST_F(CheckpointTest, OnlyTheNewestAreKept) {
  CheckpointStore store(dir.path(), 2);
  for (const std::uint64_t number : {1, 2, 10, 9}) store.save(sample(number));
  EXPECT_THAT(store.list(), ElementsAre(9u, 10u));
}

TEST_F(CheckpointTest, ADamagedNewestIsSkippedAndNamed) {
  CheckpointStore store(dir.path(), 3);
  store.save(sample(1));
  store.save(sample(2));
  std::ofstream(store.path_of(2) / "weights", std::ios::app) << "x";
  const auto loaded = newest();
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->number, 1u);
  ASSERT_THAT(problems, SizeIs(1));
  EXPECT_THAT(problems[0], HasSubstr("checkpoint-2/weights"));
}

TEST_F(CheckpointTest, EveryTruncationOfEveryFileIsNoticed) {
  CheckpointStore store(dir.path(), 3);
  store.save(sample(1));
  for (const char* name : {"weights", "optimiser", "manifest.json"}) {
    const fs::path file = store.path_of(1) / name;
    const std::string whole = read_file(file);
    for (std::size_t size = 0; size + 2 < whole.size(); size += 1 + whole.size() / 40) {
      fs::resize_file(file, size);
      EXPECT_THROW(CheckpointStore::load(store.path_of(1)), Error) << name << " cut to " << size;
      std::ofstream(file) << whole;
    }
  }
}

TEST_F(CheckpointTest, AnotherSchemaIsRefusedWithAHintAndStaysAsItIs) {
  CheckpointStore store(dir.path(), 3);
  for (const std::uint64_t number : {1, 2}) store.save(sample(number));
  const fs::path newest = store.path_of(2), manifest = newest / "manifest.json";
  for (const int schema : {CheckpointStore::kSchema - 1, CheckpointStore::kSchema + 1}) {
    auto json = nlohmann::json::parse(read_file(manifest));
    json["schema"] = schema;
    write_file_atomic(manifest, json.dump());
    const auto refusal = [&](const auto& call) -> std::string {
      try {
        call();
      } catch (const OtherSchemaError& error) {
        return error.what();
      }
      return "none";
    };
    const auto expected = HasSubstr(newest.string() + ": is of schema " + std::to_string(schema) +
                                    "; this program reads " + std::to_string(CheckpointStore::kSchema) +
                                    " (resume with the version of regraft that wrote it");
    EXPECT_THAT(refusal([&] { CheckpointStore::load(newest); }), expected);
    EXPECT_THAT(refusal([&] { CheckpointStore::describe(newest); }), expected);
    EXPECT_THAT(refusal([&] { CheckpointStore(dir.path(), 3).resume("ppo"); }), expected)
        << "an intact older one is no way out";
    EXPECT_EQ(read_file(manifest), json.dump());
  }
  EXPECT_THAT(entries(newest), UnorderedElementsAre("manifest.json", "optimiser", "weights"));
}

TEST_F(CheckpointTest, AFolderOfCheckpointsOrARunIsToldWhichThereAre) {
  const fs::path run = dir.path() / "run", folder = run / "checkpoints";
  CheckpointStore store(folder, 3);
  const auto refusal = [](const fs::path& path) -> std::string {
    try {
      return CheckpointStore::describe(path);
    } catch (const CheckpointError& error) {
      return error.what();
    }
  };
  EXPECT_THAT(refusal(folder), HasSubstr("is no checkpoint, and holds none"));
  for (const std::uint64_t number : {9, 10}) store.save(sample(number));
  for (const fs::path& path : {folder, run})
    EXPECT_THAT(refusal(path), AllOf(HasSubstr("is no checkpoint; it holds checkpoint-9, checkpoint-10"),
                                     HasSubstr("name one of them: " + (folder / "checkpoint-10").string())));
  EXPECT_THAT(refusal(folder / "checkpoint-9"), HasSubstr(R"("updates": 9)"));
}

TEST_F(CheckpointTest, AFullDiskLeavesTheOldCheckpointsAndNothingElse) {
  CheckpointStore store(dir.path(), 3);
  store.save(sample(1));
  // A file-size limit stands for the full disk: write() fails half-way in both.
  const rlimit small{4096, RLIM_INFINITY};
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_THROW(store.save(sample(2, std::string(100'000, 'w'))), Error);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_THAT(entries(dir.path()), ElementsAre("checkpoint-1"));
  EXPECT_EQ(newest()->number, 1u);
  EXPECT_THAT(problems, IsEmpty());
}

TEST_F(CheckpointTest, WhatAnInterruptedSaveLeftIsRemoved) {
  fs::create_directories(dir.path() / ".aside-5");
  std::ofstream(dir.path() / ".aside-5" / "weights") << "half";
  CheckpointStore store(dir.path(), 3);
  EXPECT_THAT(entries(dir.path()), IsEmpty());
  EXPECT_FALSE(newest());
}

TEST_F(CheckpointTest, ANumberThatIsSavedAgainReplacesTheOldOne) {
  CheckpointStore store(dir.path(), 3);
  store.save(sample(4, "old"));
  store.save(sample(4, "new"));
  EXPECT_THAT(entries(dir.path()), ElementsAre("checkpoint-4"));
  EXPECT_EQ(newest()->parts, sample(4, "new").parts);
}

/// What a file system holds at each moment of saving a number again: how far it came, and what is resumed.
TEST_F(CheckpointTest, AnInterruptionWhileANumberIsSavedAgainLosesNeither) {
  const auto saved = [&](const char* name, const char* weights) {
    CheckpointStore(dir.path() / name, 3).save(sample(4, weights));
    return dir.path() / name / "checkpoint-4";
  };
  const auto resumed = [&](const char* name) {
    const auto checkpoint = CheckpointStore(dir.path() / name, 3).load_newest(problems);
    EXPECT_TRUE(checkpoint);
    EXPECT_THAT(entries(dir.path() / name), ElementsAre("checkpoint-4"));
    return checkpoint ? checkpoint->parts : decltype(checkpoint->parts)();
  };
  // The old one is renamed, the new one lies aside.
  fs::rename(saved("between", "old"), dir.path() / "between" / ".before-4");
  fs::create_directory(dir.path() / "between" / ".aside-4");
  EXPECT_EQ(resumed("between"), sample(4, "old").parts);
  // The new one is in place, the old one not yet removed.
  saved("after", "new");
  fs::rename(saved("elsewhere", "old"), dir.path() / "after" / ".before-4");
  EXPECT_EQ(resumed("after"), sample(4, "new").parts);
}

TEST_F(CheckpointTest, ARunResumesFromTheNewestIntactOneOrRefuses) {
  CheckpointStore store(dir.path(), 3);
  EXPECT_FALSE(store.resume("ppo")) << "a new run";
  for (const std::uint64_t number : {1, 2}) {
    Checkpoint checkpoint = sample(number);
    checkpoint.state = R"({"phase":"ppo"})";
    store.save(checkpoint);
  }
  write_file_atomic(store.path_of(2) / "weights", std::string_view("damaged"));
  ASSERT_TRUE(store.resume("ppo"));
  EXPECT_EQ(store.resume("ppo")->number, 1u);
  EXPECT_THROW(store.resume("dream"), CheckpointError);
  write_file_atomic(store.path_of(1) / "weights", std::string_view("damaged"));
  EXPECT_THROW(store.resume("ppo"), CheckpointError) << "to begin anew would lose the training unnoticed";
}

TEST_F(CheckpointTest, TicketCountsAreRolledBackToTheMarkOfTheCheckpointOrToNothing) {
  const fs::path journal = dir.path() / "journal";
  Checkpoint checkpoint = sample(1);
  {
    wire::Ledger ledger(journal, "run");
    for (int i = 0; i < 3; ++i) {
      if (i == 2) checkpoint.state = checkpoint_state("ppo", "", ledger.mark()).dump();
      ledger.close(ledger.issue({}).id, wire::Verdict::kAdmitted);
    }
  }
  {
    wire::Ledger ledger(journal, "run");
    roll_back(ledger, checkpoint);
    EXPECT_EQ(ledger.ticket_counts().total().rolled_back, 1u);
    EXPECT_TRUE(ledger.ticket_counts().check().empty());
  }
  wire::Ledger ledger(journal, "run");
  roll_back(ledger, std::nullopt);
  EXPECT_EQ(ledger.ticket_counts().total().rolled_back, 3u);
}

}  // namespace
}
