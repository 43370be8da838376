#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace regraft::nn::internal {

/// Memory that begins at a cache line.
template <typename T>
struct CacheLineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};

  CacheLineAllocator() = default;
  template <typename Other>
  CacheLineAllocator(const CacheLineAllocator<Other>&) {}

  T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), kLine)); }
  void deallocate(T* from, std::size_t count) { ::operator delete(from, count * sizeof(T), kLine); }

  friend bool operator==(const CacheLineAllocator&, const CacheLineAllocator&) { return true; }
};

/// For the kernels: a vector that begins at a multiple of its size never straddles two cache lines.
using AlignedFloats = std::vector<float, CacheLineAllocator<float>>;
/// `count` rounded up to whole cache lines.
constexpr std::size_t whole_lines(std::size_t count) {
  constexpr std::size_t kFloats = 64 / sizeof(float);
  return (count + kFloats - 1) / kFloats * kFloats;
}

}
