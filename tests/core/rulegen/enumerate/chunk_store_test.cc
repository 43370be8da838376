#include "core/rulegen/enumerate/chunk_store.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/rng.h"

namespace regraft::rulegen {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSeed = 3;

std::vector<GraphRecord> random_records(std::size_t count, std::string_view stream) {
  Rng rng(kSeed, stream);
  std::vector<GraphRecord> records(count);
  for (GraphRecord& record : records) {
    record.print = {rng.next(), rng.next()};
    record.code.count = 1;
    record.code.nodes[0] = {static_cast<std::uint8_t>(rng.below(9)), {-1, GraphCode::kNoInput}};
  }
  std::sort(records.begin(), records.end());
  return records;
}

void cut(const fs::path& file) {
  fs::resize_file(file, fs::file_size(file) - 1);
}

class ChunkStoreTest : public ::testing::Test {
 protected:
  TempDir dir_;
  const Hash128 options_ = hash_text("options");
  const ChunkStore store_{dir_.path() / "chunks", options_};
  const fs::path whole_ = dir_.path() / "chunks/unit-0.chunk", part_ = dir_.path() / "chunks/unit-0.part";
};

TEST_F(ChunkStoreTest, PartsOfAllUnitsAreSortedEachRecordOnce) {
  const std::vector<GraphRecord> first = random_records(500, "first");
  std::vector<GraphRecord> second = random_records(300, "second");
  second.insert(second.end(), first.begin(), first.begin() + 100);
  std::sort(second.begin(), second.end());
  store_.write(0, first);
  store_.write(1, second);
  EXPECT_TRUE(store_.has(1));
  EXPECT_FALSE(store_.has(2));
  const std::vector<MappedFile> files = store_.open_all(2);
  std::vector<GraphRecord> found;
  std::size_t bytes = 0;
  for (std::size_t part = 0; part < ChunkStore::kParts; ++part) {
    const std::vector<GraphRecord> records = ChunkStore::read_part(files, part);
    EXPECT_TRUE(std::is_sorted(records.begin(), records.end())) << "seed " << kSeed;
    found.insert(found.end(), records.begin(), records.end());
    bytes += ChunkStore::part_bytes(files, part);
  }
  EXPECT_EQ(bytes, 900 * sizeof(GraphRecord));
  std::vector<GraphRecord> wanted = first;
  wanted.insert(wanted.end(), second.begin(), second.end());
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, wanted) << "seed " << kSeed;
}

TEST_F(ChunkStoreTest, ATornOrEmptyFileIsNotThere) {
  store_.write(0, random_records(5, "records"));
  ASSERT_TRUE(store_.has(0));
  cut(whole_);
  EXPECT_FALSE(store_.has(0));
  fs::resize_file(whole_, 0);
  EXPECT_FALSE(store_.has(0));
}

TEST_F(ChunkStoreTest, AFolderOfOtherOptionsIsRefused) {
  store_.write(0, {});
  EXPECT_TRUE(store_.has(0));
  EXPECT_THROW(ChunkStore(dir_.path() / "chunks", hash_text("others")).has(0), RulegenError);
  EXPECT_THROW(ChunkStore(whole_ / "in-a-file", options_), FileError);
}

TEST_F(ChunkStoreTest, APartGoesOnUntilItsUnitIsWhole) {
  EXPECT_TRUE(store_.part_of_unit(0).way.empty());
  const UnitPart part{random_records(7, "records"), {4, 2}};
  store_.write_part(0, part);
  EXPECT_EQ(store_.part_of_unit(0).records, part.records);
  EXPECT_EQ(store_.part_of_unit(0).way, part.way);
  EXPECT_TRUE(ChunkStore(dir_.path() / "chunks", hash_text("others")).part_of_unit(0).way.empty());
  cut(part_);
  EXPECT_TRUE(store_.part_of_unit(0).way.empty()) << "torn";
  store_.write_part(0, part);
  store_.write(0, part.records);
  EXPECT_FALSE(fs::exists(part_));
}

TEST(GraphClasses, AreOfEqualGraphsOneOfThemOnTheFirstLeaves) {
  const OpTable table = op_table({"add"});
  const auto record = [](std::uint64_t print, std::int8_t leaf) {
    GraphRecord made;
    made.print = {0, print};
    made.code.nodes[0].inputs = {leaf, GraphCode::kNoInput};
    return made;
  };
  // Prints 1 and 3 are of one graph alone, print 2 of two.
  const std::vector<GraphRecord> records{record(1, -1), record(2, -1), record(2, -2), record(3, -1)};
  GraphClasses classes;
  add_classes(records, table, classes);
  ASSERT_EQ(classes.size(), 1u);
  EXPECT_EQ(classes.of(0).size(), 2u);
  GraphClasses none;
  add_classes({record(2, -2), record(2, -3)}, table, none);
  EXPECT_EQ(none.size(), 0u) << "the same of renamed leaves is met elsewhere";
}

}  // namespace
}
