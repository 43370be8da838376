#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/hash.h"

namespace regraft::search {

/// Hashes of graphs in bounded memory. It grows by doubling up to `most_bytes`. Then a new hash replaces the
/// one in its slot, so a graph that was met long ago may be taken for new.
class VisitedGraphs {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{64} << 20;  // four million graphs

  explicit VisitedGraphs(std::size_t most_bytes = kMostBytes);

  /// Remembers a graph; false where it was known.
  bool insert(Hash128 hash);
  bool contains(Hash128 hash) const;
  bool erase(Hash128 hash);
  /// Graphs that were taken for new.
  std::uint64_t inserted() const { return inserted_; }
  /// visit(hash) of those that it remembers.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (const Hash128& hash : slots_)
      if (hash != Hash128{}) visit(hash);
  }

 private:
  static constexpr std::size_t kBucket = 8;  // slots in a row where a hash may lie

  /// The slot among those of `hash` that holds `held`; null: there is none.
  const Hash128* find(const Hash128& hash, const Hash128& held) const;
  void grow();

  std::size_t most_slots_;
  std::vector<Hash128> slots_;  // empty ones are zero; a power of two of them
  std::uint64_t inserted_ = 0;
};

}
