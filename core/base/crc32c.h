#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace regraft {

/// CRC-32C (Castagnoli, RFC 3720 appendix B.4). `seed` is the CRC of what went before, 0 at the start.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t seed = 0);

/// As TensorFlow's record files store it: rotated and offset, so that a CRC of data that holds CRCs stays
/// sound.
std::uint32_t masked_crc32c(std::span<const std::byte> bytes);

}
