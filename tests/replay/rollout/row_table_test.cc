#include "replay/rollout/row_table.h"

#include <gtest/gtest.h>

#include "core/base/rng.h"

namespace regraft::replay {
namespace {

/// Rows that begin with an ascending key, some of them repeated.
RowTable random_table(Rng& rng) {
  RowTable table;
  std::uint32_t key = 0;
  for (std::uint64_t rows = rng.below(60); rows > 0; --rows) {
    key += static_cast<std::uint32_t>(rng.below(3) * rng.below(200));
    Bytes row;
    ByteWriter out(row);
    out.value(key);
    for (std::uint64_t size = rng.below(4); size > 0; --size) out.value(std::uint8_t(rng.below(2)));
    table.add(row);
  }
  return table;
}

/// `table` with some rows left out and some put in, all at the places of their keys.
RowTable edited(const RowTable& table, Rng& rng) {
  RowTable after;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (rng.below(8) == 0) continue;
    after.add(table.row(i));
    if (rng.below(8) != 0) continue;
    Bytes row(table.row(i).begin(), table.row(i).end());
    row.push_back(std::byte{7});
    after.add(row);
  }
  return after;
}

TEST(RowTable, DeltasGiveBackTheTableAndNeverCostMuchMoreThanIt) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Rng rng(seed, "row tables");
    const RowTable before = random_table(rng);
    const RowTable after = rng.below(4) == 0 ? random_table(rng) : edited(before, rng);
    Bytes bytes;
    ByteWriter out(bytes);
    write_delta(before, after, sizeof(std::uint32_t), out);
    ByteReader in(bytes);
    EXPECT_EQ(read_delta(before, in, 1000, 100000), after);
    EXPECT_EQ(in.left(), 0u);
    EXPECT_LE(bytes.size(), 2 + after.byte_count() + 4 * after.size());
  }
}

TEST(RowTable, ACopiedRunCannotBlowUpMemory) {
  // Each delta doubles the table by copying it twice: 32 steps of a few bytes would make 4 G rows.
  RowTable table;
  for (int i = 0; i < 4; ++i) table.add(std::as_bytes(std::span("0123456789abcdef")));
  for (int i = 0; i < 64; ++i) {
    Bytes bytes;
    ByteWriter out(bytes);
    out.varint(table.size() * 2);
    for (int k = 0; k < 2; ++k) {
      out.varint(table.size() << 1 | 1);
      out.varint(0);
    }
    ByteReader in(bytes);
    try {
      table = read_delta(table, in, 1 << 16, 1 << 20);
    } catch (const ReplayError&) {
      EXPECT_LE(table.size(), std::size_t{1} << 16);
      return;
    }
  }
  FAIL() << "grew to " << table.size() << " rows";
}

TEST(RowTable, ADeltaThatContradictsItselfIsRefused) {
  RowTable before;
  before.add(std::as_bytes(std::span("abcd", 4)));
  const auto read = [&](const std::vector<std::uint64_t>& numbers) {
    Bytes bytes;
    ByteWriter out(bytes);
    for (const std::uint64_t number : numbers) out.varint(number);
    ByteReader in(bytes);
    return read_delta(before, in, 10, 100).size();
  };
  EXPECT_EQ(read({2, 1 << 1 | 1, 0, 1 << 1 | 1, 0}), 2u) << "the row that is there, twice";
  EXPECT_THROW(read({11}), ReplayError) << "too many rows";
  EXPECT_THROW(read({1, 0}), ReplayError) << "an empty run";
  EXPECT_THROW(read({1, 2 << 1 | 1, 0}), ReplayError) << "past the end";
  EXPECT_THROW(read({1, 1 << 1 | 1, 2}), ReplayError) << "a place past the end";
  EXPECT_THROW(read({1, 1 << 1, 50}), ReplayError) << "a row of bytes that are not there";
  EXPECT_THROW(read({2, 1 << 1 | 1, 0}), ReplayError) << "torn";
}

}  // namespace
}
