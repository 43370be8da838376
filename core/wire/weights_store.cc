#include "core/wire/weights_store.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace regraft::wire {
namespace {

[[noreturn]] void corrupt(const std::string& what, const WeightsInfo& info) {
  throw WireError(WireFault::kCorrupt, what, "weights version " + std::to_string(info.version),
                  "fetch them again");
}

}  // namespace

WeightsInfo WeightsStore::publish(std::uint64_t version, std::vector<std::byte> bytes) {
  Stored stored;
  stored.info = {version, hash_bytes(bytes), bytes.size()};
  stored.bytes = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  const MutexLock lock(mutex_);
  if (version == 0 || (!versions_.empty() && version <= versions_.rbegin()->first)) {
    throw WireError(WireFault::kMisuse, "weight versions must ascend", "version " + std::to_string(version),
                    "");
  }
  const WeightsInfo info = stored.info;
  versions_.emplace(version, std::move(stored));
  drop_unneeded();
  return info;
}

void WeightsStore::keep(std::uint64_t version, std::vector<std::byte> bytes) {
  Stored stored{{version, hash_bytes(bytes), bytes.size()}, nullptr};
  stored.bytes = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  const MutexLock lock(mutex_);
  versions_.try_emplace(version, std::move(stored));
  drop_unneeded();
}

WeightsInfo WeightsStore::latest() const {
  const MutexLock lock(mutex_);
  return versions_.empty() ? WeightsInfo{} : versions_.rbegin()->second.info;
}

std::optional<WeightsStore::Stored> WeightsStore::find(std::uint64_t version) const {
  const MutexLock lock(mutex_);
  if (versions_.empty()) return std::nullopt;
  if (version == 0) return versions_.rbegin()->second;
  const auto found = versions_.find(version);
  if (found == versions_.end()) return std::nullopt;
  return found->second;
}

void WeightsStore::pin(std::uint64_t version) {
  const MutexLock lock(mutex_);
  ++pins_[version];
}

void WeightsStore::unpin(std::uint64_t version) {
  const MutexLock lock(mutex_);
  const auto found = pins_.find(version);
  if (found == pins_.end())
    throw WireError(WireFault::kMisuse, "unpinned more often than pinned", "weights", "");
  if (--found->second > 0) return;
  pins_.erase(found);
  drop_unneeded();
}

void WeightsStore::drop_unneeded() {
  std::size_t newer = versions_.size();
  for (auto it = versions_.begin(); it != versions_.end();) {
    const bool needed = newer <= kKept || pins_.contains(it->first);
    --newer;
    it = needed ? std::next(it) : versions_.erase(it);
  }
}

std::uint32_t chunk_count(std::uint64_t size_bytes, std::uint32_t chunk_bytes) {
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(1, (size_bytes + chunk_bytes - 1) / chunk_bytes));
}

WeightsAssembler::WeightsAssembler(const WeightsInfo& info, std::uint32_t chunk_bytes,
                                   std::uint64_t max_bytes)
    : info_(info), chunk_bytes_(chunk_bytes) {
  if (info.size_bytes > max_bytes) corrupt(std::to_string(info.size_bytes) + " bytes are announced", info);
  if (chunk_bytes == 0) corrupt("a chunk size of 0", info);
  present_.resize(chunk_count(info.size_bytes, chunk_bytes));
  missing_ = present_.size();
  bytes_.resize(info.size_bytes);
}

void WeightsAssembler::add(const WeightsChunk& chunk, std::span<const std::byte> bytes) {
  if (chunk.info != info_ || chunk.chunk_bytes != chunk_bytes_ || chunk.chunk >= present_.size()) {
    corrupt("chunk " + std::to_string(chunk.chunk) + " is of something else", info_);
  }
  const std::uint64_t begin = std::uint64_t{chunk.chunk} * chunk_bytes_;
  const std::uint64_t expected = std::min<std::uint64_t>(chunk_bytes_, info_.size_bytes - begin);
  if (bytes.size() != expected) corrupt("chunk " + std::to_string(chunk.chunk) + " has a wrong size", info_);
  if (present_[chunk.chunk]) return;
  present_[chunk.chunk] = true;
  --missing_;
  if (!bytes.empty()) std::memcpy(bytes_.data() + begin, bytes.data(), bytes.size());
}

std::vector<std::byte> WeightsAssembler::finish() {
  if (!complete()) corrupt(std::to_string(missing_) + " chunks are missing", info_);
  if (hash_bytes(bytes_) != info_.hash) corrupt("they do not have the announced hash", info_);
  return std::move(bytes_);
}

}
