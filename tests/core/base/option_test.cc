#include "core/base/option.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace regraft {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

TEST(Option, SaysWhatItMayBe) {
  const auto allowed = [](const auto& value, Allowed bounds) {
    return Option("a", value, std::move(bounds), "").allowed();
  };
  EXPECT_EQ(allowed(true, any()), "a bool");
  EXPECT_EQ(allowed(2, between(1, 64)), "an integer, 1 to 64");
  EXPECT_EQ(allowed(0.5, above(0, 1)), "a number, above 0 and at most 1");
  EXPECT_EQ(allowed(0.5, at_least(0)), "a number, at least 0");
  EXPECT_EQ(allowed("x", one_of({"x", "y"})), "a string, one of x, y");
  EXPECT_EQ(allowed(TextList{"x"}, one_of({"x", "y"})), "a list of strings, each one of x, y");
}

TEST(Option, ReadsTheTextOfItsType) {
  const auto parsed = [](const auto& value, std::string_view text) {
    return Option("a", value, any(), "").parse(text, "here");
  };
  EXPECT_EQ(parsed(true, "false"), ConfigValue(false));
  EXPECT_EQ(parsed(1, "+7"), ConfigValue(std::int64_t{7}));
  EXPECT_EQ(parsed(1.0, "-2e3"), ConfigValue(-2000.0));
  EXPECT_EQ(parsed("x", "a,b"), ConfigValue("a,b"));
  EXPECT_EQ(parsed(TextList{}, "a,b"), ConfigValue(TextList{"a", "b"}));
  EXPECT_EQ(parsed(TextList{"x"}, ""), ConfigValue(TextList{}));
  for (const char* text : {"", "1.5", "7 ", "99999999999999999999"})
    EXPECT_THROW(parsed(1, text), ConfigError);
  for (const char* text : {"yes", "True", "1"}) EXPECT_THROW(parsed(true, text), ConfigError);
  for (const char* text : {"x", "inf", "nan", "1e999"}) EXPECT_THROW(parsed(1.0, text), ConfigError);
  EXPECT_THROW(parsed("x", "\xFF"), ConfigError);
}

TEST(Option, ChecksTypeAndRange) {
  const Option rate("rate", 0.5, above(0, 1), "");
  EXPECT_EQ(rate.checked(std::int64_t{1}, "here"), ConfigValue(1.0)) << "an integer is a number too";
  for (const double value : {0.0, 1.1, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_THROW(rate.checked(value, "here"), ConfigError) << value;
  EXPECT_THAT([&] { rate.checked(true, "c.toml:3"); },
              ThrowsMessage<ConfigError>(HasSubstr("'rate' cannot be true")));
  EXPECT_THROW(Option("n", 1, any(), "").checked(1.0, "here"), ConfigError) << "a number is no integer";
  const Option heads("heads", TextList{"x"}, one_of({"x", "y"}), "");
  EXPECT_EQ(heads.checked(TextList{"y", "x"}, "here"), ConfigValue(TextList{"y", "x"}));
  EXPECT_THROW(heads.checked(TextList{"x", "z"}, "here"), ConfigError);
}

TEST(OptionTable, RefusesWhatCannotBeMeant) {
  EXPECT_THROW(OptionTable({Option("a", 1, any(), ""), Option("a", 2, any(), "")}), ConfigError);
  EXPECT_THROW(OptionTable({Option("a", 1, any(), ""), Option("a.b", 2, any(), "")}), ConfigError);
  EXPECT_THROW(OptionTable({Option("a", 1, between(2, 3), "")}), ConfigError);
  EXPECT_THROW(OptionTable({Option("a", 2, above(2, 3), "")}), ConfigError);
  EXPECT_THROW(OptionTable({Option("a", "x", one_of({"y"}), "")}), ConfigError);
  EXPECT_THROW(OptionTable({Option("a", 1, any(), ""), Option("b", 1, any().formerly("a"), "")}),
               ConfigError);
}

TEST(OptionTable, NamesWhatAFormerOrMistypedNameIsNow) {
  const OptionTable table({Option("ppo.rate", 1, any().formerly("ppo.lr", "write it as a share"), "")});
  EXPECT_EQ(table.at("ppo.rate", "here").name(), "ppo.rate");
  EXPECT_EQ(table.find("ppo.lr"), nullptr);
  EXPECT_TRUE(table.has_table("ppo"));
  EXPECT_FALSE(table.has_table("pp"));
  EXPECT_THAT([&] { table.at("ppo.lr", "here"); },
              ThrowsMessage<ConfigError>(HasSubstr("'ppo.lr' is called 'ppo.rate' now")));
  EXPECT_THAT([&] { table.at("ppo.rat", "here"); }, ThrowsMessage<ConfigError>(HasSubstr("ppo.rate")));
}

}  // namespace
}
