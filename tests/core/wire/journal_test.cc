#include "core/wire/journal.h"

#include <gmock/gmock.h>

#include <fstream>

#include "core/base/file.h"
#include "core/wire/run_fixture.h"

namespace regraft::wire {
namespace {

using Texts = std::vector<std::string>;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

struct Opened {
  Texts texts;
  std::unique_ptr<Journal> journal;
};

Opened open(const std::filesystem::path& path) {
  Opened opened;
  opened.journal = std::make_unique<Journal>(path, [&](const Journal::Record& record) {
    opened.texts.emplace_back(reinterpret_cast<const char*>(record.payload.data()), record.payload.size());
  });
  return opened;
}

void write_text(const std::filesystem::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(text.data(), static_cast<std::streamsize>(text.size()));
}

class JournalTest : public testing::Test {
 protected:
  const TempDir folder_;
  const std::filesystem::path path_ = folder_.path() / "journal";
};

TEST_F(JournalTest, GivesBackWhatWasAppended) {
  {
    auto [texts, journal] = open(path_);
    EXPECT_TRUE(texts.empty());
    journal->append(1, bytes_of("one"));
    journal->append(2, bytes_of(""));
    const std::uint64_t end = journal->append_synced(3, bytes_of("three"));
    EXPECT_EQ(end, journal->end());
  }
  EXPECT_THAT(open(path_).texts, testing::ElementsAre("one", "", "three"));
}

TEST_F(JournalTest, CutsATornTailOffAtEveryByte) {
  std::vector<std::uint64_t> ends;
  {
    auto opened = open(path_);
    for (const char* text : {"one", "two", "three"})
      ends.push_back(opened.journal->append(1, bytes_of(text)));
  }
  const std::string whole = read_file(path_);
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    write_text(path_, whole.substr(0, length));
    const auto intact = static_cast<std::size_t>(
        std::count_if(ends.begin(), ends.end(), [&](std::uint64_t end) { return end <= length; }));
    EXPECT_EQ(open(path_).texts.size(), intact) << "cut at " << length;
    open(path_).journal->append(1, bytes_of("more"));
    EXPECT_EQ(open(path_).texts.size(), intact + 1) << "cut at " << length;
  }
}

TEST_F(JournalTest, TakesDamageInTheTailForTornAndDamageBeforeASyncForDamage) {
  {
    auto opened = open(path_);
    opened.journal->append(1, bytes_of("one"));
    opened.journal->append_synced(1, bytes_of("synced"));
    opened.journal->append(1, bytes_of("three"));
    opened.journal->append(1, bytes_of("four"));
  }
  const std::string whole = read_file(path_);
  std::string damaged = whole;
  damaged[damaged.find("three")] ^= 1;
  write_text(path_, damaged);
  EXPECT_THAT(open(path_).texts, testing::ElementsAre("one", "synced"));

  damaged = whole;
  damaged[damaged.find("one")] ^= 1;
  write_text(path_, damaged);
  EXPECT_THROW(open(path_), WireError);
  EXPECT_EQ(read_file(path_), damaged) << "a damaged file is left as it is";
}

TEST_F(JournalTest, CompactedHoldsTheSnapshotAndWhatCameBehindIt) {
  std::uint64_t end = 0;
  {
    auto opened = open(path_);
    for (int i = 0; i < 100; ++i) opened.journal->append(1, bytes_of("a record"));
    end = opened.journal->end();
    opened.journal->compact(bytes_of("a hundred"));
    EXPECT_EQ(opened.journal->end(), end) << "offsets go on";
    EXPECT_EQ(opened.journal->file_bytes(), std::filesystem::file_size(path_));
    EXPECT_LT(opened.journal->file_bytes(), 100u);
    EXPECT_GT(opened.journal->append(1, bytes_of("one more")), end);
    EXPECT_THROW(open(path_), WireError) << "held as before";
  }
  {
    auto [texts, journal] = open(path_);
    EXPECT_THAT(texts, testing::ElementsAre("a hundred", "one more"));
    EXPECT_GT(journal->end(), end);
    end = journal->end();
    journal->compact(bytes_of("all of them, in a text that is longer than the records were"));
    EXPECT_GE(journal->end(), end);
    journal->append_synced(1, bytes_of("last"));
  }
  EXPECT_THAT(open(path_).texts, testing::ElementsAre(testing::StartsWith("all of them"), "last"));
}

TEST_F(JournalTest, ASnapshotThatIsNotWholeIsDamageAndARecordBehindItATornTail) {
  std::uint64_t snapshot_bytes = 0;
  {
    auto opened = open(path_);
    for (int i = 0; i < 20; ++i) opened.journal->append(1, bytes_of("a record"));
    opened.journal->compact(bytes_of("twenty"));
    snapshot_bytes = opened.journal->file_bytes();
    opened.journal->append(1, bytes_of("torn"));
  }
  const std::string whole = read_file(path_);
  for (std::size_t length = 8; length <= whole.size(); ++length) {
    write_text(path_, whole.substr(0, length));
    if (length < snapshot_bytes) {
      EXPECT_THROW(open(path_), WireError) << "cut at " << length;
    } else {
      EXPECT_EQ(open(path_).texts.size(), length == whole.size() ? 2u : 1u) << "cut at " << length;
    }
  }
  for (std::size_t at = 8; at < snapshot_bytes; ++at) {
    std::string damaged = whole;
    damaged[at] ^= 4;
    write_text(path_, damaged);
    EXPECT_THROW(open(path_), WireError) << "byte " << at;
  }
}

TEST_F(JournalTest, AFullDiskLeavesItUncompactedAndWhole) {
  {
    auto opened = open(path_);
    opened.journal->append(1, bytes_of("one"));
    {
      const testing_support::FullDisk full(1000);
      EXPECT_THROW(opened.journal->compact(std::vector<std::byte>(2000)), Error);
    }
    opened.journal->append(1, bytes_of("two"));
  }
  EXPECT_THAT(open(path_).texts, testing::ElementsAre("one", "two"));
}

TEST_F(JournalTest, RefusesAnotherFileAndASecondWriter) {
  const auto held = open(path_);
  try {
    open(path_);
    FAIL() << "two writers";
  } catch (const WireError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("another learner"));
  }
  const auto other = folder_.path() / "other";
  write_text(other, "this is something else");
  EXPECT_THROW(open(other), WireError);
  EXPECT_THROW(open(folder_.path() / "missing" / "journal"), WireError);
}

TEST_F(JournalTest, AFullDiskIsAnErrorThatLeavesTheFileWhole) {
  {
    auto opened = open(path_);
    opened.journal->append(1, bytes_of("one"));
    const std::uint64_t size = opened.journal->end();
    {
      const testing_support::FullDisk full(size + 20);  // room for a part of the next record
      EXPECT_THROW(opened.journal->append(1, bytes_of("a record that does not fit any more")), WireError);
    }
    EXPECT_EQ(std::filesystem::file_size(path_), size);
    opened.journal->append(1, bytes_of("two"));
  }
  EXPECT_THAT(open(path_).texts, testing::ElementsAre("one", "two"));
}

}  // namespace
}
