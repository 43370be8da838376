#include "core/base/counted.h"

#include <gtest/gtest.h>

namespace regraft {
namespace {

TEST(Counted, OneIsOneAndMoreAreMany) {
  EXPECT_EQ(counted(1, "thread"), "1 thread");
  EXPECT_EQ(counted(12, "thread"), "12 threads");
}

}  // namespace
}
