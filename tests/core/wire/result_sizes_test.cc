#include "core/wire/result_sizes.h"

#include <gtest/gtest.h>

namespace regraft::wire {
namespace {

TEST(ResultSizes, TheMostIsExpectedUntilSomeAreKnown) {
  ResultSizes sizes(1000);
  for (int i = 0; i < 3; ++i) sizes.add("policy", 0, 100);
  EXPECT_EQ(sizes.expected("policy", 0), 1000u);
  sizes.add("policy", 0, 80);
  EXPECT_EQ(sizes.expected("policy", 0), 126u) << "the largest and a quarter";
  EXPECT_EQ(sizes.expected("policy", 7), 126u) << "as of other models";
  EXPECT_EQ(sizes.expected("random", 0), 1000u) << "another kind of actor";
}

TEST(ResultSizes, EachModelHasItsOwn) {
  ResultSizes sizes(1000);
  for (int i = 0; i < 4; ++i) {
    sizes.add("policy", 0, 100);
    sizes.add("policy", 1, 400);
  }
  EXPECT_EQ(sizes.expected("policy", 0), 126u);
  EXPECT_EQ(sizes.expected("policy", 1), 501u);
  EXPECT_EQ(sizes.expected("policy"), 501u);
}

TEST(ResultSizes, OldOnesAreForgottenAndNoneIsExpectedAboveTheMost) {
  ResultSizes sizes(1000);
  for (int i = 0; i < 4; ++i) sizes.add("policy", 0, 990);
  EXPECT_EQ(sizes.expected("policy", 0), 1000u);
  for (int i = 0; i < 64; ++i) sizes.add("policy", 0, 8);
  EXPECT_EQ(sizes.expected("policy", 0), 11u);
}

}  // namespace
}
