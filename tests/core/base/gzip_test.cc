#include "core/base/gzip.h"

#include <gtest/gtest.h>

#include "core/base/rng.h"

namespace regraft {
namespace {

std::string random_text(std::size_t bytes) {
  Rng rng(5, "gzip test");
  std::string text(bytes, '\0');
  for (char& c : text) c = static_cast<char>(rng.below(256));
  return text;
}

TEST(Gzip, GivesBackWhatWasPacked) {
  for (const std::string& text :
       {std::string(), std::string("x"), std::string(100000, 'a'), random_text(70000)})
    EXPECT_EQ(gunzip(gzip(text)), text) << text.size();
  EXPECT_LT(gzip(std::string(100000, 'a')).size(), 200u);
}

// RFC 1952: no flags, so no name; no time; made on Unix.
TEST(Gzip, SaysNothingOfWhereAndWhenItWasMade) {
  EXPECT_EQ(gzip("text").substr(0, 10), std::string("\x1f\x8b\x08\0\0\0\0\0\x02\x03", 10));
}

TEST(Gzip, RefusesEveryTruncationAndChangedBytes) {
  const std::string text = "proof " + random_text(200), packed = gzip(text);
  for (std::size_t bytes = 0; bytes < packed.size(); ++bytes)
    EXPECT_FALSE(gunzip(packed.substr(0, bytes))) << bytes;
  EXPECT_FALSE(gunzip(packed + "x"));
  std::size_t refused = 0;
  for (std::size_t at = 10; at < packed.size(); ++at) {  // behind the header, whose time may be any
    std::string changed = packed;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    const auto unpacked = gunzip(changed);  // a few bits fill bytes up and mean nothing
    EXPECT_EQ(unpacked.value_or(text), text) << at;
    refused += unpacked ? 0 : 1;
  }
  EXPECT_GT(refused, packed.size() - 20);
}

// A size that no stream of so few bytes can have takes no memory.
TEST(Gzip, RefusesAnImpossibleSize) {
  std::string packed = gzip("text");
  packed.replace(packed.size() - 4, 4, "\xff\xff\xff\x7f");
  EXPECT_FALSE(gunzip(packed));
}

TEST(Gzip, ChecksumOfZip) {
  EXPECT_EQ(crc32_of_zip("123456789"), 0xCBF43926u);  // the standard's check value
}

TEST(Gzip, InflatesAStreamOfAKnownSize) {
  const std::string packed = gzip("text"), stream = packed.substr(10, packed.size() - 18);
  EXPECT_EQ(inflate(stream, 4), "text");
  EXPECT_FALSE(inflate(stream, 3));
  EXPECT_FALSE(inflate(stream, 5));
}

}  // namespace
}  // namespace regraft
