#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <unordered_set>

#include "core/base/atomic_file.h"
#include "core/base/crc32c.h"
#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/base/sha256.h"

namespace regraft {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

TEST(Sha256, MatchesFips180Vectors) {
  EXPECT_EQ(sha256_hex(std::string_view("")),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex(std::string_view("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, OfAFileAndOfChunksIsThatOfTheWhole) {
  const std::string text(3'000'001, 'q');
  Sha256 hash;
  for (std::size_t at = 0; at < text.size(); at += 777)
    hash.update(bytes_of(std::string_view(text).substr(at, 777)));
  EXPECT_EQ(to_hex(hash.finish()), sha256_hex(text));
  const TempDir dir;
  write_file_atomic(dir.path() / "f", text);
  EXPECT_EQ(sha256_file(dir.path() / "f"), sha256_hex(text));
  EXPECT_THROW(sha256_file(dir.path() / "none"), FileError);
  EXPECT_THROW(sha256_file(dir.path()), FileError);
}

TEST(Crc32c, MatchesRfc3720Vectors) {
  EXPECT_EQ(crc32c(bytes_of(std::string(32, '\0'))), 0x8A9136AAu);
  EXPECT_EQ(crc32c(bytes_of(std::string(32, '\xFF'))), 0x62A8AB43u);
  std::string ascending, descending;
  for (char i = 0; i < 32; ++i) {
    ascending.push_back(i);
    descending.push_back(static_cast<char>(31 - i));
  }
  EXPECT_EQ(crc32c(bytes_of(ascending)), 0x46DD794Eu);
  EXPECT_EQ(crc32c(bytes_of(descending)), 0x113FDB5Cu);
  EXPECT_EQ(crc32c(bytes_of("123456789")), 0xE3069283u);
  EXPECT_EQ(crc32c(bytes_of("56789"), crc32c(bytes_of("1234"))), 0xE3069283u);
}

TEST(Hash128, HexIsHighThenLow) {
  const Hash128 hash{0x0123456789abcdefull, 0xfedcba9876543210ull};
  EXPECT_EQ(hash.hex(), "fedcba98765432100123456789abcdef");
}

TEST(Hash128, OfTextIsXxh3AndDependsOnTheSeed) {
  // The published XXH3-128 of no bytes with seed 0.
  EXPECT_EQ(hash_text("").hex(), "99aa06d3014798d86001c324468d497f");
  EXPECT_NE(hash_text("a"), hash_text("a", 1));
  EXPECT_EQ(hash_text("abc"), hash_bytes(bytes_of("abc")));
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
