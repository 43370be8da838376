#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "replay/error.h"

namespace regraft::replay {

using Bytes = std::vector<std::byte>;

/// Appends little-endian values and LEB128 integers.
class ByteWriter {
 public:
  explicit ByteWriter(Bytes& out) : out_(out) {}

  template <typename T>
  void value(T held) {
    static_assert(std::is_trivially_copyable_v<T>);
    raw(std::as_bytes(std::span(&held, 1)));
  }
  void varint(std::uint64_t held) {
    for (; held >= 0x80; held >>= 7) out_.push_back(static_cast<std::byte>(held | 0x80));
    out_.push_back(static_cast<std::byte>(held));
  }
  void raw(std::span<const std::byte> bytes) {
    // Not insert(): g++ 12 sees overflows in it that are not there.
    if (bytes.empty()) return;
    out_.resize(out_.size() + bytes.size());
    std::memcpy(out_.data() + out_.size() - bytes.size(), bytes.data(), bytes.size());
  }

 private:
  Bytes& out_;
};

/// Reads what ByteWriter wrote; every read checks what is left and throws ReplayError.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <typename T>
  T value() {
    static_assert(std::is_trivially_copyable_v<T>);
    T held;
    std::memcpy(&held, raw(sizeof held).data(), sizeof held);
    return held;
  }
  std::uint64_t varint() {
    std::uint64_t held = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = value<std::uint8_t>();
      if (shift == 63 && byte > 1) break;
      held |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return held;
    }
    throw ReplayError("an integer is longer than 64 bits", "segment", "");
  }
  /// A count of things that take at least one byte each, so that nothing is allocated for what cannot be
  /// there.
  std::size_t count(std::size_t least_bytes_each = 1) {
    const std::uint64_t held = varint();
    if (held > left() / least_bytes_each)
      throw ReplayError("a count exceeds the bytes that follow", "segment", "");
    return static_cast<std::size_t>(held);
  }
  std::span<const std::byte> raw(std::size_t size) {
    if (size > left()) throw ReplayError("ends too early", "segment", "");
    const auto taken = bytes_.subspan(at_, size);
    at_ += size;
    return taken;
  }
  std::size_t left() const { return bytes_.size() - at_; }
  void finish() const {
    if (left() != 0) throw ReplayError("bytes follow its end", "segment", "");
  }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

}  // namespace regraft::replay
