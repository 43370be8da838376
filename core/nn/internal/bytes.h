#pragma once

#include <bit>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "core/nn/error.h"

namespace regraft::nn::internal {

static_assert(std::endian::native == std::endian::little, "weights are stored little-endian");

/// Appends plain values to a byte buffer.
class ByteWriter {
 public:
  template <typename T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    put_array(std::span<const T>(&value, 1));
  }
  template <typename T>
  void put_array(std::span<const T> values) {
    if (values.empty()) return;
    const std::size_t at = bytes_.size();
    bytes_.resize(at + values.size_bytes());
    std::memcpy(bytes_.data() + at, values.data(), values.size_bytes());
  }
  void put_text(const std::string& text) { put_array(std::span<const char>(text.data(), text.size())); }
  std::vector<std::byte>& bytes() { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

/// Reads what ByteWriter wrote; every read past the end throws NnError with the buffer's name.
class ByteReader {
 public:
  ByteReader(std::span<const std::byte> bytes, std::string where) : bytes_(bytes), where_(std::move(where)) {}

  template <typename T>
  T get() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  std::span<const std::byte> take(std::size_t count) {
    if (count > bytes_.size() - at_)
      throw NnError("ends too early", where_, "the data is truncated: write it again");
    const auto part = bytes_.subspan(at_, count);
    at_ += count;
    return part;
  }
  std::string text(std::size_t count) {
    const auto part = take(count);
    return {reinterpret_cast<const char*>(part.data()), part.size()};
  }
  std::size_t left() const { return bytes_.size() - at_; }
  const std::string& where() const { return where_; }

 private:
  std::span<const std::byte> bytes_;
  std::string where_;
  std::size_t at_ = 0;
};

}  // namespace regraft::nn::internal
