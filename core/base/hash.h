#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace regraft {

/// A 128-bit content hash (XXH3). Not cryptographic: files on disk that must be trusted use SHA-256
/// (base/sha256.h).
struct Hash128 {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  auto operator<=>(const Hash128&) const = default;
  /// 32 lower-case hex digits, high half first.
  std::string hex() const;
  /// Order-independent combination: addition modulo 2^128 by halves.
  Hash128& operator+=(const Hash128& other) {
    low += other.low;
    high += other.high;
    return *this;
  }
};

Hash128 hash_bytes(std::span<const std::byte> bytes, std::uint64_t seed = 0);
Hash128 hash_text(std::string_view text, std::uint64_t seed = 0);

/// A hash and what comes behind it: a folded product of 64 bits for each half (as in wyhash), much faster
/// than Hasher. `hash` is well mixed, as of Hasher; where a half of it equals next's, that half forgets both.
inline Hash128 chained(const Hash128& hash, const Hash128& next) {
  const auto fold = [](std::uint64_t a, std::uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  };
  return {fold(hash.low ^ next.low, next.high ^ 0xA0761D6478BD642Full),
          fold(hash.high ^ next.high, next.low ^ 0xE7037ED1A0B428DBull)};
}

/// Order-dependent accumulation of fixed-size values. In the header, since steps of the environment hash
/// much.
class Hasher {
 public:
  explicit Hasher(std::uint64_t seed = 0) : state_{seed * 0x9E3779B97F4A7C15ull + 1, ~seed} {}
  void add(std::uint64_t value) {
    state_.low = mix(state_.low ^ value) + 0x9E3779B97F4A7C15ull;
    state_.high = mix(state_.high + (value ^ 0xD6E8FEB86659FD93ull)) ^ state_.low;
  }
  void add(const Hash128& value) {
    add(value.low);
    add(value.high);
  }
  Hash128 finish() const { return {mix(state_.low ^ state_.high), mix(state_.high + state_.low)}; }

 private:
  static std::uint64_t mix(std::uint64_t x) {  // splitmix64 finaliser
    x ^= x >> 30;
    x *= 0xBF58476D1CE4E5B9ull;
    x ^= x >> 27;
    x *= 0x94D049BB133111EBull;
    return x ^ (x >> 31);
  }

  Hash128 state_;
};

}

template <>
struct std::hash<regraft::Hash128> {
  std::size_t operator()(const regraft::Hash128& h) const noexcept { return static_cast<std::size_t>(h.low); }
};
