#pragma once

#include <cstddef>
#include <memory_resource>
#include <unordered_map>
#include <utility>

#include "core/base/hash.h"

namespace regraft {

/// Answers by the hash of what decides them. Of those that were not asked for while half of kMost others
/// were, it forgets, so that it may be asked without end. One thread.
template <typename Value>
class BoundedMemo {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 14;

  /// Null where nothing is known. What find() and add() gave before may be gone.
  Value* find(const Hash128& key) {
    if (const auto found = young_.find(key); found != young_.end()) return &found->second;
    auto held = old_.extract(key);
    if (held.empty()) return nullptr;
    make_room();
    return &young_.insert(std::move(held)).position->second;
  }
  Value& add(const Hash128& key, Value value) {
    old_.erase(key);
    make_room();
    return young_.insert_or_assign(key, std::move(value)).first->second;
  }
  void clear() {
    young_.clear();
    old_.clear();
  }
  std::size_t size() const { return young_.size() + old_.size(); }

 private:
  using Map = std::pmr::unordered_map<Hash128, Value>;

  void make_room() {
    if (young_.size() < kMost / 2) return;
    old_.clear();
    young_.swap(old_);
  }

  std::pmr::unsynchronized_pool_resource
      pool_;  // few and large requests of the heap, and its memory is used again
  Map young_{&pool_}, old_{&pool_};
};

}
