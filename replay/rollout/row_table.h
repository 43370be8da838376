#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "replay/rollout/byte_reader.h"

namespace regraft::replay {

/// Rows of bytes, of any sizes, one after another.
class RowTable {
 public:
  std::size_t size() const { return ends_.size(); }
  std::size_t byte_count() const { return bytes_.size(); }
  std::span<const std::byte> row(std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::span(bytes_).subspan(begin, ends_[i] - begin);
  }
  void add(std::span<const std::byte> row) {
    bytes_.insert(bytes_.end(), row.begin(), row.end());
    ends_.push_back(static_cast<std::uint32_t>(bytes_.size()));
  }
  /// A new last row of `size` bytes, to be written by the caller before the next one.
  std::byte* extend(std::size_t size) {
    bytes_.resize(bytes_.size() + size);
    ends_.push_back(static_cast<std::uint32_t>(bytes_.size()));
    return bytes_.data() + bytes_.size() - size;
  }
  void reserve(std::size_t rows, std::size_t bytes) {
    ends_.reserve(rows);
    bytes_.reserve(bytes);
  }
  void clear() {
    bytes_.clear();
    ends_.clear();
  }
  bool operator==(const RowTable&) const = default;

 private:
  Bytes bytes_;
  std::vector<std::uint32_t> ends_;
};

/// Writes `after` as runs of rows copied from `before` and rows in full (after the rsync algorithm, Tridgell
/// 1999, with rows for blocks). Both are ordered by a key, the little-endian number in the first `key_bytes`
/// (at most 4) of every row. So one pass over both finds the rows that were kept, wherever they moved.
void write_delta(const RowTable& before, const RowTable& after, std::size_t key_bytes, ByteWriter& out);

/// The table that write_delta was given. At most `row_limit` rows and `byte_limit` bytes in all: a copied run
/// takes a few bytes whatever its size. Throws ReplayError.
RowTable read_delta(const RowTable& before, ByteReader& in, std::size_t row_limit, std::size_t byte_limit);

}
