#pragma once

#include <cstddef>
#include <memory_resource>
#include <unordered_map>
#include <utility>

#include "core/base/hash.h"

namespace regraft {

/// Answers by the hash of what decides them. Forgets all of them when there are kMost, so that it may be
/// asked without end. One thread.
template <typename Value>
class BoundedMemo {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 16;

  Value* find(const Hash128& key) {
    const auto found = known_.find(key);
    return found == known_.end() ? nullptr : &found->second;
  }
  /// What find() and add() gave before may be gone.
  Value& add(const Hash128& key, Value value) {
    if (known_.size() >= kMost) known_.clear();
    return known_.insert_or_assign(key, std::move(value)).first->second;
  }
  void clear() { known_.clear(); }

 private:
  std::pmr::unsynchronized_pool_resource pool_;  // few and large requests of the heap, and its memory is used again
  std::pmr::unordered_map<Hash128, Value> known_{&pool_};
};

}  // namespace regraft
