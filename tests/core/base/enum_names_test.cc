#include "core/base/enum_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace regraft {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

enum class Fuel { wood, coal };
constexpr std::array<std::string_view, 2> enum_names(Fuel) {
  return {"wood", "coal"};
}

TEST(EnumNames, LeadThereAndBack) {
  EXPECT_EQ(enum_name(Fuel::coal), "coal");
  EXPECT_EQ(enum_value<Fuel>("wood"), Fuel::wood);
  EXPECT_FALSE(enum_value<Fuel>("oil"));
  EXPECT_THAT([] { enum_from<Fuel>("cool", "fuel"); },
              ThrowsMessage<UsageError>(HasSubstr("did you mean 'coal'?")));
}

}  // namespace
}
