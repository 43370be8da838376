#include "core/exec/equivalence/tolerance_rule.h"

#include <gtest/gtest.h>

namespace regraft::exec {
namespace {

TEST(ToleranceRule, IsFourSpreadsWithinItsBounds) {
  EXPECT_DOUBLE_EQ(ToleranceRule::tolerance(DType::float32, 1e-4), 4e-4);
  EXPECT_DOUBLE_EQ(ToleranceRule::tolerance(DType::float32, 0), 1e-5);
  EXPECT_DOUBLE_EQ(ToleranceRule::tolerance(DType::float32, 1), 2e-3);
  EXPECT_DOUBLE_EQ(ToleranceRule::tolerance(DType::float16, 1), 2e-2);
  EXPECT_DOUBLE_EQ(ToleranceRule::tolerance(DType::float16, 0), 1.0 / 1024);
  EXPECT_DOUBLE_EQ(ToleranceRule::tolerance(DType::bfloat16, 0), 1.0 / 128);
  EXPECT_EQ(ToleranceRule::tolerance(DType::int64, 1), 0);
}

}  // namespace
}
