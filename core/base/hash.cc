#include "core/base/hash.h"

#include <xxhash.h>

namespace regraft {
namespace {

std::uint64_t mix(std::uint64_t x) {  // splitmix64 finaliser
  x ^= x >> 30;
  x *= 0xBF58476D1CE4E5B9ull;
  x ^= x >> 27;
  x *= 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

}  // namespace

std::string Hash128::hex() const {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text(32, '0');
  for (int i = 0; i < 16; ++i) {
    text[15 - i] = digits[(high >> (4 * i)) & 15];
    text[31 - i] = digits[(low >> (4 * i)) & 15];
  }
  return text;
}

Hash128 hash_bytes(std::span<const std::byte> bytes, std::uint64_t seed) {
  const XXH128_hash_t h = XXH3_128bits_withSeed(bytes.data(), bytes.size(), seed);
  return {h.low64, h.high64};
}

Hash128 hash_text(std::string_view text, std::uint64_t seed) {
  return hash_bytes(std::as_bytes(std::span(text.data(), text.size())), seed);
}

void Hasher::add(std::uint64_t value) {
  state_.low = mix(state_.low ^ value) + 0x9E3779B97F4A7C15ull;
  state_.high = mix(state_.high + (value ^ 0xD6E8FEB86659FD93ull)) ^ state_.low;
}

Hash128 Hasher::finish() const {
  return {mix(state_.low ^ state_.high), mix(state_.high + state_.low)};
}

}  // namespace regraft
