#include "core/base/bound_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <string_view>

namespace regraft {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

enum class Fuel : std::uint8_t { wood, coal };
constexpr std::array<std::string_view, 2> enum_names(Fuel) {
  return {"wood", "coal"};
}

struct Stove {
  bool lit = true;
  std::uint16_t doors = 2;
  double heat = 0.5;
  std::filesystem::path manual = "stove.md";
  TextList owners{"ann", "bob"};
  Fuel fuel = Fuel::coal;
  struct Pipe {
    int bends = 3;
  } pipe;
};

BoundOptions<Stove> stove_options() {
  return BoundOptions<Stove>({
      {"stove.lit", &Stove::lit, any(), "whether it burns"},
      {"stove.doors", &Stove::doors, between(1, 4).formerly("stove.hatches"), "in front"},
      {"stove.heat", &Stove::heat, above(0, 1), "share of the greatest"},
      {"stove.manual", &Stove::manual, any(), "a file"},
      {"stove.owners", &Stove::owners, any(), "by name"},
      {"stove.fuel", &Stove::fuel, any().formerly("stove.coal", "write coal for true"), "what it burns"},
      {"stove.bends", [](Stove& stove) -> int& { return stove.pipe.bends; }, at_least(0), "of its pipe"},
  });
}

Config stove_config() {
  return Config(OptionTable(stove_options().options()));
}

TEST(BoundOptions, DefaultsAreTheFieldsOwn) {
  const Stove filled = stove_options().from(stove_config());
  EXPECT_TRUE(filled.lit);
  EXPECT_EQ(filled.doors, 2);
  EXPECT_EQ(filled.heat, 0.5);
  EXPECT_EQ(filled.manual, "stove.md");
  EXPECT_EQ(filled.owners, (TextList{"ann", "bob"}));
  EXPECT_EQ(filled.fuel, Fuel::coal);
  EXPECT_EQ(filled.pipe.bends, 3);
}

TEST(BoundOptions, FillFieldsOfAllTypes) {
  Config config = stove_config();
  for (const char* setting : {"stove.lit=false", "stove.doors=4", "stove.heat=1", "stove.manual=m",
                              "stove.owners=c", "stove.fuel=wood", "stove.bends=0"})
    config.set(setting);
  const Stove filled = stove_options().from(config);
  EXPECT_FALSE(filled.lit);
  EXPECT_EQ(filled.doors, 4);
  EXPECT_EQ(filled.heat, 1.0);
  EXPECT_EQ(filled.manual, "m");
  EXPECT_EQ(filled.owners, TextList{"c"});
  EXPECT_EQ(filled.fuel, Fuel::wood);
  EXPECT_EQ(filled.pipe.bends, 0);
}

TEST(BoundOptions, WhatMayNotBeIsRefusedInAConfigAndInAStruct) {
  Config config = stove_config();
  EXPECT_THAT([&] { config.set("stove.heat=0"); },
              ThrowsMessage<ConfigError>(HasSubstr("a number, above 0 and at most 1")));
  EXPECT_THAT([&] { config.set("stove.fuel=oil"); },
              ThrowsMessage<ConfigError>(HasSubstr("one of wood, coal")));
  EXPECT_THROW(config.set("stove.doors=5"), ConfigError);
  EXPECT_NO_THROW(stove_options().check({}));
  Stove cold;
  cold.heat = 0;
  EXPECT_THAT([&] { stove_options().check(cold); }, ThrowsMessage<ConfigError>(HasSubstr("stove.heat")));
}

TEST(BoundOptions, AFormerNameIsAnErrorThatNamesTheNewOne) {
  Config config = stove_config();
  EXPECT_THAT(
      [&] { config.set("stove.hatches=3"); },
      ThrowsMessage<ConfigError>("--set stove.hatches=3: 'stove.hatches' is called 'stove.doors' now"));
  EXPECT_THAT(
      [&] { config.merge_toml("[stove]\nlit = true\ncoal = true\n", "s.toml"); },
      ThrowsMessage<ConfigError>("s.toml:3: 'stove.coal' is called 'stove.fuel' now (write coal for true)"));
}

TEST(BoundOptions, AllCanBeFixedOnResume) {
  for (const Option& option : stove_options().options()) EXPECT_FALSE(option.is_fixed_on_resume());
  const auto fixed =
      BoundOptions<Stove>::fixed_on_resume({{"stove.lit", &Stove::lit, any(), "whether it burns"}});
  EXPECT_TRUE(fixed.options().front().is_fixed_on_resume());
}

}  // namespace
}
