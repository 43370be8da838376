#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace regraft {

/// A gzip file (RFC 1952) of one member, by zlib. Neither a name nor a time is in it: the same text gives the
/// same bytes.
std::string gzip(std::string_view text);

/// What gzip packed; nothing where the bytes are truncated or damaged.
std::optional<std::string> gunzip(std::string_view packed);

/// A deflate stream (RFC 1951) that holds so many bytes; nothing where it does not.
std::optional<std::string> inflate(std::string_view packed, std::size_t bytes);

/// The checksum of gzip and zip files (ISO 3309).
std::uint32_t crc32_of_zip(std::string_view bytes);

}  // namespace regraft
