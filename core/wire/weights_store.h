#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/mutex.h"
#include "core/wire/message.h"

namespace regraft::wire {

/// The weight versions that actors can still fetch: the last two, and every version pinned by an open ticket.
/// Thread-safe.
class WeightsStore {
 public:
  using Bytes = std::shared_ptr<const std::vector<std::byte>>;  // shared with messages on their way
  struct Stored {
    WeightsInfo info;
    Bytes bytes;
  };

  static constexpr std::size_t kKept = 2;

  /// Versions are positive and ascend; throws WireError(kMisuse) otherwise. Returns what to announce.
  WeightsInfo publish(std::uint64_t version, std::vector<std::byte> bytes);

  /// Keeps a version that another store published; one that is older than those kept is dropped at once.
  void keep(std::uint64_t version, std::vector<std::byte> bytes);

  /// Version 0 before the first publish().
  WeightsInfo latest() const;
  /// Version 0 asks for the latest.
  std::optional<Stored> find(std::uint64_t version) const;

  /// Each pin keeps a version, which may be published later, until its unpin.
  void pin(std::uint64_t version);
  void unpin(std::uint64_t version);

 private:
  void drop_unneeded() REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::map<std::uint64_t, Stored> versions_ GUARDED_BY(mutex_);
  std::map<std::uint64_t, std::size_t> pins_ GUARDED_BY(mutex_);
};

/// How many chunks a version has.
std::uint32_t chunk_count(std::uint64_t size_bytes, std::uint32_t chunk_bytes);

/// Puts a version together from its chunks, in any order, and checks it.
class WeightsAssembler {
 public:
  /// Throws WireError(kCorrupt) if the size exceeds `max_bytes` or the chunk size is 0; allocates afterwards.
  WeightsAssembler(const WeightsInfo& info, std::uint32_t chunk_bytes, std::uint64_t max_bytes);

  /// Throws WireError(kCorrupt) if the chunk does not belong here. A repeated one is ignored.
  void add(const WeightsChunk& chunk, std::span<const std::byte> bytes);
  std::uint32_t chunks() const { return static_cast<std::uint32_t>(present_.size()); }
  bool complete() const { return missing_ == 0; }
  const WeightsInfo& info() const { return info_; }
  /// Once complete. Throws WireError(kCorrupt) if the hash differs.
  std::vector<std::byte> finish();

 private:
  WeightsInfo info_;
  std::uint32_t chunk_bytes_;
  std::vector<bool> present_;
  std::size_t missing_;
  std::vector<std::byte> bytes_;
};

}
