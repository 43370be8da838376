#include "core/base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/file.h"

namespace regraft {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

TEST(Log, WritesPlainLinesFromTheLevelUp) {
  const TempDir dir;
  start_log("info", "actor-3", dir.path() / "log");
  log_debug("hidden {}", 1);
  log_info("steps {} in {:.1f} s", 10, 2.5);
  log_warning("careful");
  start_log("warning", "");
  const std::string text = read_file(dir.path() / "log");
  EXPECT_THAT(text, HasSubstr(" info actor-3: steps 10 in 2.5 s\n"));
  EXPECT_THAT(text, EndsWith(" warning actor-3: careful\n"));
  EXPECT_EQ(text.find("hidden"), std::string::npos);
}

TEST(Log, RefusesUnknownLevelsAndUnwritableFiles) {
  try {
    start_log("warn", "x");
    FAIL() << "accepted";
  } catch (const UsageError& e) {
    EXPECT_THAT(e.what(), HasSubstr("no log level 'warn'"));
  }
  EXPECT_THROW(start_log("info", "x", "/dev/null/log"), Error);
}

}  // namespace
}
