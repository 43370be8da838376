#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <span>
#include <type_traits>

#include "core/base/recycled_memory.h"

namespace regraft {

/// A vector of trivially copyable values, fewer than 2^31, that keeps up to N of them inside the object; more
/// go to recycled memory.
template <typename T, std::size_t N>
class InlineVector {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

 public:
  InlineVector() = default;
  InlineVector(std::initializer_list<T> values) { assign(values.begin(), values.end()); }
  explicit InlineVector(std::span<const T> values) { assign(values.begin(), values.end()); }
  InlineVector(std::size_t count, T value) { resize(count, value); }
  InlineVector(const InlineVector& other) { assign(other.begin(), other.end()); }
  InlineVector(InlineVector&& other) noexcept { steal(other); }
  InlineVector& operator=(const InlineVector& other) {
    if (this != &other) assign(other.begin(), other.end());
    return *this;
  }
  InlineVector& operator=(InlineVector&& other) noexcept {
    if (this != &other) {
      release();
      steal(other);
    }
    return *this;
  }
  ~InlineVector() { release(); }

  T* data() { return heap_ ? heap_ : inline_; }
  const T* data() const { return heap_ ? heap_ : inline_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  T& back() { return data()[size_ - 1]; }
  const T& back() const { return data()[size_ - 1]; }
  const T& front() const { return data()[0]; }

  void push_back(T value) {
    if (size_ == capacity_) grow(size_ + 1);
    std::memcpy(static_cast<void*>(data() + size_), &value, kItemBytes);
    ++size_;
  }
  void pop_back() { --size_; }
  void clear() { size_ = 0; }
  void resize(std::size_t count, T value = T{}) {
    reserve(count);
    if (count > size_) std::fill(data() + size_, data() + count, value);
    size_ = static_cast<std::uint32_t>(count);
  }
  void insert(std::size_t at, T value) {
    push_back(value);
    std::rotate(begin() + at, end() - 1, end());
  }
  void erase(std::size_t at) {
    std::copy(begin() + at + 1, end(), begin() + at);
    --size_;
  }
  template <typename It>
  void assign(It first, It last) {
    size_ = 0;
    reserve(static_cast<std::size_t>(std::distance(first, last)));
    T* const to = data();
    for (; first != last; ++first) to[size_++] = *first;
  }
  void reserve(std::size_t wanted) {
    if (wanted > capacity_) grow(wanted);
  }

  operator std::span<const T>() const { return {data(), size_}; }
  bool operator==(const InlineVector& other) const {
    return std::equal(begin(), end(), other.begin(), other.end());
  }

 private:
  static constexpr std::size_t kItemBytes = sizeof(T);  // NOLINT(bugprone-sizeof-expression): pointers too

  void grow(std::size_t wanted) {
    const std::size_t grown = std::max<std::size_t>(wanted, std::size_t{capacity_} * 2);
    T* const fresh = static_cast<T*>(take_memory(grown * kItemBytes));
    std::uninitialized_default_construct_n(fresh, grown);
    std::copy(begin(), end(), fresh);
    release();
    heap_ = fresh;
    capacity_ = static_cast<std::uint32_t>(grown);
  }
  void release() {
    if (!heap_) return;
    give_memory(heap_, capacity_ * kItemBytes);
    heap_ = nullptr;
    capacity_ = N;
  }
  void steal(InlineVector& other) {
    size_ = other.size_;
    capacity_ = other.capacity_;
    heap_ = other.heap_;
    if (!heap_) std::copy(other.inline_, other.inline_ + N, inline_);
    other.heap_ = nullptr;
    other.capacity_ = N;
    other.size_ = 0;
  }

  T* heap_ = nullptr;
  std::uint32_t size_ = 0, capacity_ = N;
  T inline_[N]{};
};

}
