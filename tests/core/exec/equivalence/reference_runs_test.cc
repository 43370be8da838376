#include "core/exec/equivalence/reference_runs.h"

#include <gtest/gtest.h>

namespace regraft::exec {
namespace {

TEST(ComparisonBindings, UseDistinctPrimesWithACommonRetry) {
  const std::vector<ValueInfo> inputs{{"x", DType::float32, {{-1, "batch"}, {-1, "seq"}}}};
  const std::vector<SymbolSizes> points{{{"seq", 128}}};
  const std::vector<Binding> bindings = comparison_bindings(inputs, points);
  ASSERT_EQ(bindings.size(), 3u);
  EXPECT_EQ(bindings[0].sizes, (SymbolSizes{{"batch", 1}, {"seq", 128}}));
  EXPECT_TRUE(bindings[0].required);
  EXPECT_EQ(bindings[1].sizes, (SymbolSizes{{"batch", 1}, {"seq", 1}}));
  EXPECT_EQ(bindings[2].sizes, (SymbolSizes{{"batch", 7}, {"seq", 11}}));
  EXPECT_EQ(*bindings[2].retry, (SymbolSizes{{"batch", 7}, {"seq", 7}}));
  EXPECT_EQ(comparison_bindings(std::vector<ValueInfo>{{"x", DType::float32, {{2, ""}}}}, {}).size(), 1u);
}

}  // namespace
}
