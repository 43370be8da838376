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

TEST(Journal, GivesBackWhatWasAppended) {
  const TempDir folder;
  const auto path = folder.path() / "journal";
  {
    auto [texts, journal] = open(path);
    EXPECT_TRUE(texts.empty());
    journal->append(1, bytes_of("one"));
    journal->append(2, bytes_of(""));
    const std::uint64_t end = journal->append_synced(3, bytes_of("three"));
    EXPECT_EQ(end, journal->size_bytes());
  }
  EXPECT_THAT(open(path).texts, testing::ElementsAre("one", "", "three"));
}

TEST(Journal, CutsATornTailOffAtEveryByte) {
  const TempDir folder;
  const auto path = folder.path() / "journal";
  std::vector<std::uint64_t> ends;
  {
    auto opened = open(path);
    for (const char* text : {"one", "two", "three"})
      ends.push_back(opened.journal->append(1, bytes_of(text)));
  }
  const std::string whole = read_file(path);
  for (std::size_t length = 0; length <= whole.size(); ++length) {
    write_text(path, whole.substr(0, length));
    const auto intact = static_cast<std::size_t>(
        std::count_if(ends.begin(), ends.end(), [&](std::uint64_t end) { return end <= length; }));
    EXPECT_EQ(open(path).texts.size(), intact) << "cut at " << length;
    open(path).journal->append(1, bytes_of("more"));
    EXPECT_EQ(open(path).texts.size(), intact + 1) << "cut at " << length;
  }
}

TEST(Journal, TakesDamageInTheTailForTornAndDamageBeforeASyncForDamage) {
  const TempDir folder;
  const auto path = folder.path() / "journal";
  {
    auto opened = open(path);
    opened.journal->append(1, bytes_of("one"));
    opened.journal->append_synced(1, bytes_of("synced"));
    opened.journal->append(1, bytes_of("three"));
    opened.journal->append(1, bytes_of("four"));
  }
  const std::string whole = read_file(path);
  std::string damaged = whole;
  damaged[damaged.find("three")] ^= 1;
  write_text(path, damaged);
  EXPECT_THAT(open(path).texts, testing::ElementsAre("one", "synced"));

  damaged = whole;
  damaged[damaged.find("one")] ^= 1;
  write_text(path, damaged);
  EXPECT_THROW(open(path), WireError);
  EXPECT_EQ(read_file(path), damaged) << "a damaged file is left as it is";
}

TEST(Journal, RefusesAnotherFileAndASecondWriter) {
  const TempDir folder;
  const auto path = folder.path() / "journal";
  const auto held = open(path);
  try {
    open(path);
    FAIL() << "two writers";
  } catch (const WireError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("another learner"));
  }
  const auto other = folder.path() / "other";
  write_text(other, "this is something else");
  EXPECT_THROW(open(other), WireError);
  EXPECT_THROW(open(folder.path() / "missing" / "journal"), WireError);
}

TEST(Journal, AFullDiskIsAnErrorThatLeavesTheFileWhole) {
  const TempDir folder;
  const auto path = folder.path() / "journal";
  {
    auto opened = open(path);
    opened.journal->append(1, bytes_of("one"));
    const std::uint64_t size = opened.journal->size_bytes();
    {
      const testing_support::FullDisk full(size + 20);  // room for a part of the next record
      EXPECT_THROW(opened.journal->append(1, bytes_of("a record that does not fit any more")), WireError);
    }
    EXPECT_EQ(std::filesystem::file_size(path), size);
    opened.journal->append(1, bytes_of("two"));
  }
  EXPECT_THAT(open(path).texts, testing::ElementsAre("one", "two"));
}

}  // namespace
}  // namespace regraft::wire
