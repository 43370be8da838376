#include "core/base/json_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace regraft {
namespace {

TEST(JsonText, HasReplacementCharactersForWhatIsNotUtf8) {
  EXPECT_EQ(json_text({{"name", "a\xFFz"}, {"size", 3}}), "{\"name\":\"a\uFFFDz\",\"size\":3}");
  EXPECT_EQ(json_text({1, 2}, 1), "[\n 1,\n 2\n]");
}

}  // namespace
}
