#include "core/base/temporary_folder.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "core/base/error.h"

namespace regraft {
namespace {

TEST(TemporaryFolder, SaysWhereThereIsNone) {
  const char* const held = std::getenv("TMPDIR");
  const std::string before = held ? held : "";
  ::setenv("TMPDIR", "/nowhere", 1);
  std::string said;
  try {
    temporary_folder();
  } catch (const UsageError& error) {
    said = error.what();
  }
  held ? ::setenv("TMPDIR", before.c_str(), 1) : ::unsetenv("TMPDIR");
  EXPECT_EQ(
      said,
      "TMPDIR: there is no folder for temporary files: No such file or directory (name one that there is)");
}

}  // namespace
}
