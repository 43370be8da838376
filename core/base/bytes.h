#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace regraft {

static_assert(std::endian::native == std::endian::little, "what is stored and sent is little-endian");

using Bytes = std::vector<std::byte>;

/// Appends little-endian values, LEB128 integers and plain bytes.
class ByteWriter {
 public:
  explicit ByteWriter(Bytes& out) : out_(out) {}

  template <typename T>
  void value(const T& held) {
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
  void text(std::string_view text) { raw(std::as_bytes(std::span(text))); }

 private:
  Bytes& out_;
};

/// Reads what ByteWriter wrote. Every read checks what is left and throws Failure, an Error of the caller's
/// folder, at `where`, with `remedy`; both must live as long as the reader.
template <typename Failure>
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes, std::string_view where, std::string_view remedy = "")
      : bytes_(bytes), where_(where), remedy_(remedy) {}

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
    fail("an integer is longer than 64 bits");
  }
  /// A count of things that take at least so many bytes each, so that nothing is allocated for what cannot
  /// be there.
  std::size_t count(std::size_t least_bytes_each = 1) {
    const std::uint64_t held = varint();
    if (held > left() / least_bytes_each) fail("a count exceeds the bytes that follow");
    return static_cast<std::size_t>(held);
  }
  std::span<const std::byte> raw(std::size_t size) {
    if (size > left()) fail("ends too early");
    const auto taken = bytes_.subspan(at_, size);
    at_ += size;
    return taken;
  }
  std::string text(std::size_t size) {
    const auto taken = raw(size);
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }
  std::size_t left() const { return bytes_.size() - at_; }
  std::string where() const { return std::string(where_); }
  void finish() const {
    if (left() != 0) fail("bytes follow its end");
  }

 private:
  [[noreturn]] void fail(const char* problem) const {
    throw Failure(problem, std::string(where_), std::string(remedy_));
  }

  std::span<const std::byte> bytes_;
  std::string_view where_, remedy_;
  std::size_t at_ = 0;
};

}
