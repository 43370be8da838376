#include "replay/rollout/row_table.h"

#include <cstring>
#include <string_view>

namespace regraft::replay {
namespace {

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool equal(const RowTable& before, std::size_t i, std::span<const std::byte> row) {
  return i < before.size() && text_of(before.row(i)) == text_of(row);
}

/// Finds rows in a table, asked for in ascending order of their keys.
class RowFinder {
 public:
  RowFinder(const RowTable& table, std::size_t key_bytes) : table_(table), key_bytes_(key_bytes) {}

  /// The first equal row, or the table's size.
  std::size_t find(std::span<const std::byte> row) {
    const std::uint32_t key = key_of(row);
    while (group_ < table_.size() && key_of(table_.row(group_)) < key) ++group_;
    for (std::size_t at = group_; at < table_.size() && key_of(table_.row(at)) == key; ++at)
      if (equal(table_, at, row)) return at;
    return table_.size();
  }

 private:
  std::uint32_t key_of(std::span<const std::byte> row) const {
    std::uint32_t key = 0;
    std::memcpy(&key, row.data(), key_bytes_);
    return key;
  }

  const RowTable& table_;
  std::size_t key_bytes_;
  std::size_t group_ = 0;  // the first row whose key is not below the last one asked for
};

}  // namespace

void write_delta(const RowTable& before, const RowTable& after, std::size_t key_bytes, ByteWriter& out) {
  RowFinder finder(before, key_bytes);
  out.varint(after.size());
  std::size_t expected = 0;  // where the next copied run starts if nothing was inserted or removed
  for (std::size_t i = 0; i < after.size();) {
    const std::size_t start = equal(before, expected, after.row(i)) ? expected : finder.find(after.row(i));
    if (start == before.size()) {
      std::size_t end = i + 1;
      while (end < after.size() && finder.find(after.row(end)) == before.size()) ++end;
      out.varint((end - i) << 1);
      for (; i < end; ++i) {
        out.varint(after.row(i).size());
        out.raw(after.row(i));
      }
      continue;
    }
    std::size_t length = 1;
    while (i + length < after.size() && equal(before, start + length, after.row(i + length))) ++length;
    out.varint(length << 1 | 1);
    out.varint(start);
    i += length;
    expected = start + length;
  }
}

RowTable read_delta(const RowTable& before, ByteReader& in, std::size_t row_limit, std::size_t byte_limit) {
  RowTable after;
  const std::uint64_t rows = in.varint();
  if (rows > row_limit) throw ReplayError("more than " + std::to_string(row_limit) + " rows", "segment", "");
  const auto add = [&](std::span<const std::byte> row) {
    if (after.size() == rows || after.byte_count() + row.size() > byte_limit)
      throw ReplayError("a table exceeds its size", "segment", "");
    after.add(row);
  };
  while (after.size() < rows) {
    const std::uint64_t run = in.varint(), length = run >> 1;
    if (length == 0) throw ReplayError("an empty run", "segment", "");
    if ((run & 1) == 0) {
      for (std::uint64_t i = 0; i < length; ++i) add(in.raw(in.count()));
      continue;
    }
    const std::uint64_t start = in.varint();
    if (start > before.size() || length > before.size() - start)
      throw ReplayError("copies rows that are not there", "segment", "");
    for (std::uint64_t i = 0; i < length; ++i) add(before.row(start + i));
  }
  return after;
}

}
