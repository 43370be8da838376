#include "core/base/hash.h"

#include <gtest/gtest.h>

#include <span>
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

}  // namespace
}  // namespace regraft
