#include "core/base/error.h"

#include <gtest/gtest.h>

namespace regraft {
namespace {

TEST(Error, SaysWhereWhatAndWhatToDo) {
  EXPECT_STREQ(Error("is torn", "m.onnx", "export it again").what(), "m.onnx: is torn (export it again)");
  EXPECT_STREQ(Error("is torn", "", "").what(), "is torn");
  const UsageError error("a", "b", "c");
  EXPECT_EQ(error.problem(), "a");
  EXPECT_EQ(error.where(), "b");
  EXPECT_EQ(error.remedy(), "c");
}

}  // namespace
}
