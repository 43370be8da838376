#include "core/base/inflate.h"

#include <gtest/gtest.h>

namespace regraft {
namespace {

// The text "text" as Python's zlib packs it, without zlib's header and checksum.
constexpr std::string_view kStream("\x2b\x49\xad\x28\x01\x00", 6);

TEST(Inflate, AStreamOfAKnownSize) {
  EXPECT_EQ(inflate(kStream, 4), "text");
  EXPECT_FALSE(inflate(kStream, 3));
  EXPECT_FALSE(inflate(kStream, 5));
  EXPECT_FALSE(inflate(kStream.substr(0, 5), 4));
}

// A size that no stream of so few bytes can have takes no memory.
TEST(Inflate, RefusesAnImpossibleSize) {
  EXPECT_FALSE(inflate(kStream, std::size_t{1} << 60));
}

TEST(ChecksumOfZip, IsTheStandards) {
  EXPECT_EQ(crc32_of_zip("123456789"), 0xCBF43926u);  // the standard's check value
}

}  // namespace
}
