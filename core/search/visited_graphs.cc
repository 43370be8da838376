#include "core/search/visited_graphs.h"

#include <algorithm>
#include <bit>

namespace regraft::search {
namespace {

/// The hash of zero is what empty slots hold.
Hash128 kept(Hash128 hash) {
  return hash == Hash128{} ? Hash128{1, 1} : hash;
}

}  // namespace

VisitedGraphs::VisitedGraphs(std::size_t most_bytes)
    : most_slots_(std::max(kBucket, std::bit_floor(most_bytes / sizeof(Hash128)))), slots_(kBucket) {}

const Hash128* VisitedGraphs::find(const Hash128& hash, const Hash128& held) const {
  const Hash128* const begin = slots_.data() + (hash.low & (slots_.size() - kBucket));
  const Hash128* const at = std::find(begin, begin + kBucket, held);
  return at == begin + kBucket ? nullptr : at;
}

bool VisitedGraphs::contains(Hash128 hash) const {
  hash = kept(hash);
  return find(hash, hash) != nullptr;
}

bool VisitedGraphs::insert(Hash128 hash) {
  hash = kept(hash);
  if (find(hash, hash)) return false;
  ++inserted_;
  const Hash128* place = find(hash, Hash128{});
  for (; !place && slots_.size() < most_slots_; place = find(hash, Hash128{})) grow();
  const std::size_t taken = (hash.low & (slots_.size() - kBucket)) + hash.high % kBucket;
  slots_[place ? static_cast<std::size_t>(place - slots_.data()) : taken] = hash;
  return true;
}

bool VisitedGraphs::erase(Hash128 hash) {
  hash = kept(hash);
  const Hash128* const at = find(hash, hash);
  if (at) slots_[static_cast<std::size_t>(at - slots_.data())] = {};
  return at != nullptr;
}

void VisitedGraphs::grow() {
  std::vector<Hash128> before(2 * slots_.size());
  before.swap(slots_);
  for (const Hash128& hash : before) {
    if (hash == Hash128{}) continue;
    const Hash128* const free = find(hash, Hash128{});  // a bucket becomes two: there is room
    slots_[static_cast<std::size_t>(free - slots_.data())] = hash;
  }
}

}
