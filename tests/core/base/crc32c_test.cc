#include "core/base/crc32c.h"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>

namespace regraft {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
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

}  // namespace
}
