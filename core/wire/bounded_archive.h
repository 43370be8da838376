#pragma once

#include <bit>
#include <cereal/cereal.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "core/wire/wire_error.h"

// The one header of this folder that shows an outside library: include it from .cc files only.

namespace regraft::wire {

static_assert(std::endian::native == std::endian::little, "the wire format is little endian");

/// cereal into a byte vector.
class BytesOutputArchive : public cereal::OutputArchive<BytesOutputArchive, cereal::AllowEmptyClassElision> {
 public:
  explicit BytesOutputArchive(std::vector<std::byte>& bytes)
      : cereal::OutputArchive<BytesOutputArchive, cereal::AllowEmptyClassElision>(this), bytes_(bytes) {}

  void write(const void* data, std::size_t size_bytes) {
    const std::size_t begin = bytes_.size();
    bytes_.resize(begin + size_bytes);
    if (size_bytes > 0) std::memcpy(bytes_.data() + begin, data, size_bytes);
  }

 private:
  std::vector<std::byte>& bytes_;
};

/// cereal from bytes that are not trusted. Never reads beyond them. Refuses a length prefix that exceeds the
/// bytes that remain, before anything is allocated for it (an element takes at least one byte). Throws
/// WireError(kMalformed).
class BoundedInputArchive : public cereal::InputArchive<BoundedInputArchive, cereal::AllowEmptyClassElision> {
 public:
  explicit BoundedInputArchive(std::span<const std::byte> bytes)
      : cereal::InputArchive<BoundedInputArchive, cereal::AllowEmptyClassElision>(this), rest_(bytes) {}

  void read(void* data, std::size_t size_bytes) {
    need(size_bytes);
    if (size_bytes > 0) std::memcpy(data, rest_.data(), size_bytes);
    rest_ = rest_.subspan(size_bytes);
  }
  void need(std::uint64_t size_bytes) const {
    if (size_bytes > rest_.size()) {
      throw WireError(WireFault::kMalformed,
                      "a length of " + std::to_string(size_bytes) + " exceeds the " +
                          std::to_string(rest_.size()) + " bytes that remain",
                      "message", "");
    }
  }
  /// Call after the last field: trailing bytes make a message malformed.
  void expect_end() const {
    if (!rest_.empty()) {
      throw WireError(WireFault::kMalformed, std::to_string(rest_.size()) + " bytes follow the last field",
                      "message", "");
    }
  }

 private:
  std::span<const std::byte> rest_;
};

template <class T>
requires std::is_arithmetic_v<T>
void CEREAL_SAVE_FUNCTION_NAME(BytesOutputArchive& archive, const T& value) {
  archive.write(&value, sizeof value);
}
template <class T>
requires std::is_arithmetic_v<T>
void CEREAL_LOAD_FUNCTION_NAME(BoundedInputArchive& archive, T& value) {
  static_assert(!std::is_same_v<T, bool>, "a bool of another process may be neither 0 nor 1: send a byte");
  archive.read(&value, sizeof value);
}
template <class T>
void CEREAL_SAVE_FUNCTION_NAME(BytesOutputArchive& archive, const cereal::BinaryData<T>& data) {
  archive.write(data.data, static_cast<std::size_t>(data.size));
}
template <class T>
void CEREAL_LOAD_FUNCTION_NAME(BoundedInputArchive& archive, cereal::BinaryData<T>& data) {
  archive.read(data.data, static_cast<std::size_t>(data.size));
}
template <class T>
void CEREAL_SAVE_FUNCTION_NAME(BytesOutputArchive& archive, const cereal::SizeTag<T>& tag) {
  const std::uint64_t size = tag.size;
  archive.write(&size, sizeof size);
}
template <class T>
void CEREAL_LOAD_FUNCTION_NAME(BoundedInputArchive& archive, cereal::SizeTag<T>& tag) {
  std::uint64_t size = 0;
  archive.read(&size, sizeof size);
  archive.need(size);
  tag.size = size;
}
template <class T>
void CEREAL_SERIALIZE_FUNCTION_NAME(BytesOutputArchive& archive, cereal::NameValuePair<T>& pair) {
  archive(pair.value);
}
template <class T>
void CEREAL_SERIALIZE_FUNCTION_NAME(BoundedInputArchive& archive, cereal::NameValuePair<T>& pair) {
  archive(pair.value);
}

}

CEREAL_REGISTER_ARCHIVE(regraft::wire::BytesOutputArchive)
CEREAL_REGISTER_ARCHIVE(regraft::wire::BoundedInputArchive)
CEREAL_SETUP_ARCHIVE_TRAITS(regraft::wire::BoundedInputArchive, regraft::wire::BytesOutputArchive)
