#include "core/base/rng.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace regraft {
namespace {

TEST(Rng, FollowsXoshiro256StarStar) {
  // The reference implementation's first outputs from state {1, 2, 3, 4}.
  Rng rng(0, "x");
  rng.restore({1, 2, 3, 4});
  const std::uint64_t expected[] = {11520ull, 0ull, 1509978240ull, 1215971899390074240ull};
  for (const std::uint64_t value : expected) EXPECT_EQ(rng.next(), value);
}

TEST(Rng, SameSeedAndNameGiveTheSameStreamAndOthersDiffer) {
  Rng a(7, "actor-1"), b(7, "actor-1"), other_name(7, "actor-2"), other_seed(8, "actor-1");
  const std::uint64_t first = a.next();
  EXPECT_EQ(first, b.next());
  EXPECT_NE(first, other_name.next());
  EXPECT_NE(first, other_seed.next());
}

TEST(Rng, RestoredStateContinuesExactly) {
  Rng rng(1, "save");
  rng.normal();
  const Rng::State saved = rng.state();
  std::vector<double> first, second;
  for (int i = 0; i < 10; ++i) first.push_back(rng.normal());
  rng.restore(saved);
  for (int i = 0; i < 10; ++i) second.push_back(rng.normal());
  EXPECT_EQ(first, second);
}

TEST(Rng, BelowIsUniform) {
  const std::uint64_t seed = 5;
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  Rng rng(seed, "below");
  constexpr int bound = 7;
  constexpr double expected = 10000;
  std::vector<int> counts(bound);
  for (int i = 0; i < bound * expected; ++i) ++counts[rng.below(bound)];
  double chi_squared = 0;
  for (const int count : counts) chi_squared += std::pow(count - expected, 2) / expected;
  EXPECT_LT(chi_squared, 22.5);  // 6 degrees of freedom, p = 0.001
  EXPECT_EQ(rng.below(1), 0u);
}

TEST(Rng, UniformAndNormalHaveTheirMoments) {
  const std::uint64_t seed = 6;
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  Rng rng(seed, "moments");
  constexpr int draws = 100000;
  double uniform_sum = 0, sum = 0, squares = 0;
  for (int i = 0; i < draws; ++i) {
    const double u = rng.uniform(), n = rng.normal();
    ASSERT_TRUE(u >= 0 && u < 1);
    uniform_sum += u;
    sum += n;
    squares += n * n;
  }
  EXPECT_NEAR(uniform_sum / draws, 0.5, 0.004);
  EXPECT_NEAR(sum / draws, 0.0, 0.015);
  EXPECT_NEAR(squares / draws, 1.0, 0.02);
  EXPECT_GE(rng.uniform(2.0, 3.0), 2.0);
}

}  // namespace
}
