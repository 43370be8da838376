#include "core/base/hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <span>
#include <string>
#include <unordered_set>

namespace regraft {
namespace {

TEST(Hash128, HexIsHighThenLow) {
  const Hash128 hash{0x0123456789abcdefull, 0xfedcba9876543210ull};
  EXPECT_EQ(hash.hex(), "fedcba98765432100123456789abcdef");
}

TEST(Hash128, OfTextIsXxh3AndDependsOnTheSeed) {
  // The published XXH3-128 of no bytes with seed 0.
  EXPECT_EQ(hash_text("").hex(), "99aa06d3014798d86001c324468d497f");
  EXPECT_NE(hash_text("a"), hash_text("a", 1));
  EXPECT_EQ(hash_text("abc"), hash_bytes(std::as_bytes(std::span("abc", 3))));
}

TEST(Hash128, SumDoesNotDependOnOrder) {
  const Hash128 a = hash_text("a"), b = hash_text("b"), c = hash_text("c");
  Hash128 forward = a, backward = c;
  forward += b;
  forward += c;
  backward += b;
  backward += a;
  EXPECT_EQ(forward, backward);
}

TEST(Hasher, DependsOnOrderCountAndSeedWithoutCollisions) {
  std::unordered_set<Hash128> seen;
  std::size_t made = 0;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    for (std::uint64_t a = 0; a < 20; ++a) {
      for (std::uint64_t b = 0; b < 20; ++b) {
        Hasher hasher(seed);
        hasher.add(a);
        hasher.add(b);
        seen.insert(hasher.finish());
        ++made;
        if (b == 0) {
          Hasher shorter(seed);
          shorter.add(a);
          seen.insert(shorter.finish());
          ++made;
        }
      }
    }
  }
  EXPECT_EQ(seen.size(), made);
}

// What operations, values and counts are: small numbers, of which either half alone must tell.
TEST(Chained, TellsSmallNumbersAndTheirOrderInEitherHalf) {
  std::unordered_set<std::uint64_t> low, high;
  std::size_t made = 0;
  for (std::uint64_t seed = 1; seed < 5; ++seed) {
    for (std::uint64_t a = 0; a < 16; ++a) {
      for (std::uint64_t b = 0; b < 16; ++b) {
        const Hash128 one = chained(Hasher(seed).finish(), {a, b});
        for (const Hash128& hash : {one, chained(one, {b, 0}), chained(one, {0, b + 1})}) {
          low.insert(hash.low);
          high.insert(hash.high);
          ++made;
        }
      }
    }
  }
  EXPECT_EQ(low.size(), made);
  EXPECT_EQ(high.size(), made);
  EXPECT_NE(chained(hash_text("a"), hash_text("b")), chained(hash_text("b"), hash_text("a")));
}

// A changed bit changes about half of the bits of each half that depends on it.
TEST(Chained, EachBitChangesManyBits) {
  const auto flipped = [](Hash128 hash, int bit) {
    (bit < 64 ? hash.low : hash.high) ^= std::uint64_t{1} << (bit % 64);
    return hash;
  };
  int most = 0, fewest = 128;
  for (int bit = 0; bit < 128; ++bit) {
    int changed_by_first = 0, changed_by_next = 0;
    constexpr int kPairs = 200;
    for (int pair = 0; pair < kPairs; ++pair) {
      const Hash128 first = hash_text("first " + std::to_string(pair));
      const Hash128 next = hash_text("next " + std::to_string(pair)), whole = chained(first, next);
      const Hash128 other = chained(flipped(first, bit), next), another = chained(first, flipped(next, bit));
      changed_by_first +=
          bit < 64 ? std::popcount(whole.low ^ other.low) : std::popcount(whole.high ^ other.high);
      changed_by_next +=
          std::min(std::popcount(whole.low ^ another.low), std::popcount(whole.high ^ another.high));
    }
    for (const int changed : {changed_by_first / kPairs, changed_by_next / kPairs}) {
      most = std::max(most, changed);
      fewest = std::min(fewest, changed);
    }
  }
  EXPECT_GT(fewest, 16);
  EXPECT_LT(most, 48);
}

}  // namespace
}
