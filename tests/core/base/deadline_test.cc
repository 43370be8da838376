#include "core/base/deadline.h"

#include <gtest/gtest.h>

#include <limits>

#include "support/manual_clock.h"

namespace regraft {
namespace {

TEST(Deadline, IsOverOnceItsSecondsHaveGoneBy) {
  ManualClock clock;
  const Deadline end(2, clock), never(std::numeric_limits<double>::infinity(), clock);
  EXPECT_FALSE(end.is_over());
  clock.advance_ns(nanoseconds_per_second);
  EXPECT_DOUBLE_EQ(end.left_s(), 1);
  clock.advance_ns(nanoseconds_per_second);
  EXPECT_TRUE(end.is_over());
  EXPECT_FALSE(never.is_over());
}

}  // namespace
}
