#include "core/base/crc32c.h"

#include <array>
#include <bit>

namespace regraft {
namespace {

constexpr std::array<std::uint32_t, 256> make_table() {
  constexpr std::uint32_t reflected_polynomial = 0x82F63B78u;
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) ? reflected_polynomial : 0u);
    table[byte] = crc;
  }
  return table;
}

constexpr std::array<std::uint32_t, 256> table = make_table();

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t seed) {
  std::uint32_t crc = ~seed;
  for (const std::byte byte : bytes)
    crc = (crc >> 8) ^ table[(crc ^ static_cast<std::uint32_t>(byte)) & 0xFFu];
  return ~crc;
}

std::uint32_t masked_crc32c(std::span<const std::byte> bytes) {
  constexpr std::uint32_t mask_delta = 0xA282EAD8u;
  return std::rotr(crc32c(bytes), 15) + mask_delta;
}

}
