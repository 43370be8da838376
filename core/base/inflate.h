#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace regraft {

/// A deflate stream (RFC 1951) that holds so many bytes; nothing where it does not.
std::optional<std::string> inflate(std::string_view packed, std::size_t bytes);

/// The checksum of zip files (ISO 3309).
std::uint32_t crc32_of_zip(std::string_view bytes);

}
