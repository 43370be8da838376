#include "core/base/json_integer.h"

#include <gtest/gtest.h>

namespace regraft {
namespace {

using nlohmann::json;

TEST(JsonInteger, TakesWhatFits) {
  EXPECT_EQ(json_integer<std::uint8_t>(json::parse("255")), 255);
  EXPECT_EQ(json_integer<std::int8_t>(json::parse("-128")), -128);
  EXPECT_EQ(json_integer<std::uint64_t>(json::parse("18446744073709551615")), ~std::uint64_t{0});
  EXPECT_EQ(json_integers<std::uint16_t>(json::parse("[0, 65535]")), (std::vector<std::uint16_t>{0, 65535}));
}

TEST(JsonInteger, RefusesWhatDoesNot) {
  for (const char* text :
       {"256", "-1", "2.5", "1e95", "true", "null", "\"7\"", "[7]", "18446744073709551616"})
    EXPECT_THROW(json_integer<std::uint8_t>(json::parse(text)), json::type_error) << text;
  EXPECT_THROW(json_integer<std::int64_t>(json::parse("9223372036854775808")), json::type_error);
  for (const char* text : {"7", "{\"a\": 7}", "[1, -1]"})
    EXPECT_THROW(json_integers<std::uint16_t>(json::parse(text)), json::type_error) << text;
}

}  // namespace
}
