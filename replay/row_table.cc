#include "replay/row_table.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace regraft::replay {
namespace {

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool equal(const RowTable& before, std::size_t i, std::span<const std::byte> row) {
  return i < before.size() && text_of(before.row(i)) == text_of(row);
}

}  // namespace

void write_delta(const RowTable& before, const RowTable& after, ByteWriter& out) {
  std::unordered_map<std::string_view, std::size_t> where;  // the first of equal rows
  where.reserve(before.size());
  for (std::size_t i = 0; i < before.size(); ++i) where.try_emplace(text_of(before.row(i)), i);
  out.varint(after.size());
  std::size_t expected = 0;  // where the next copied run starts if nothing was inserted or removed
  for (std::size_t i = 0; i < after.size();) {
    const auto found = where.find(text_of(after.row(i)));
    if (found == where.end()) {
      std::size_t end = i;
      while (end < after.size() && !where.contains(text_of(after.row(end)))) ++end;
      out.varint((end - i) << 1);
      for (; i < end; ++i) {
        out.varint(after.row(i).size());
        out.raw(after.row(i));
      }
      continue;
    }
    const std::size_t start = equal(before, expected, after.row(i)) ? expected : found->second;
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

}  // namespace regraft::replay
