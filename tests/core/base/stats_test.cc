#include "core/base/stats.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace regraft {
namespace {

TEST(Median, OfOddAndEvenCounts) {
  EXPECT_EQ(median(std::vector{3.0, 1.0, 2.0}), 2.0);
  EXPECT_EQ(median(std::vector{4.0, 1.0, 2.0, 3.0}), 2.5);
  EXPECT_EQ(median(std::vector{7.0}), 7.0);
  EXPECT_EQ(mean(std::vector{1.0, 2.0, 6.0}), 3.0);
}

TEST(Quantile, InterpolatesLinearly) {
  const std::vector values{40.0, 10.0, 30.0, 20.0};
  EXPECT_EQ(quantile(values, 0.0), 10.0);
  EXPECT_EQ(quantile(values, 1.0), 40.0);
  EXPECT_DOUBLE_EQ(quantile(values, 0.25), 17.5);
  EXPECT_DOUBLE_EQ(quantile(values, 0.9), 37.0);
}

TEST(InterquartileMean, IsTheMeanOfTheMiddleHalf) {
  EXPECT_DOUBLE_EQ(interquartile_mean({7}), 7);
  EXPECT_DOUBLE_EQ(interquartile_mean({1e9, 2, -1e9, 4}), 3);
  EXPECT_DOUBLE_EQ(interquartile_mean({8, 1, 7, 2, 6, 3, 5, 4}), (3 + 4 + 5 + 6) / 4.0);
  // Five values: the middle 2.5 of them are three quarters of the second, the third, three quarters of the
  // fourth.
  EXPECT_DOUBLE_EQ(interquartile_mean({0, 1, 10, 100, 1000}), (0.75 * 1 + 10 + 0.75 * 100) / 2.5);
}

TEST(BootstrapInterquartileMean, CoversTheTruthAndKeepsTasksApart) {
  const std::uint64_t seed = 31;
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  Rng data(seed, "data"), resampling(seed, "resampling");
  int covered = 0;
  const int rounds = 200;
  for (int round = 0; round < rounds; ++round) {
    std::vector<double> runs(40);
    for (double& run : runs) run = 3 + data.normal();
    const Interval interval = bootstrap_interquartile_mean({runs}, resampling, 0.9, 400);
    EXPECT_LE(interval.low, interval.estimate);
    EXPECT_GE(interval.high, interval.estimate);
    covered += interval.low <= 3 && 3 <= interval.high;
  }
  EXPECT_NEAR(static_cast<double>(covered) / rounds, 0.9, 0.07);
  // Two tasks without noise: nothing to resample within either.
  const Interval sure = bootstrap_interquartile_mean({{1, 1, 1, 1}, {9, 9, 9, 9}}, resampling);
  EXPECT_EQ(sure.low, sure.high);
}

TEST(Spearman, SeesMonotoneRelationsTiesAndNone) {
  EXPECT_DOUBLE_EQ(spearman(std::vector{1.0, 2.0, 3.0}, std::vector{1.0, 8.0, 27.0}), 1.0);
  EXPECT_DOUBLE_EQ(spearman(std::vector{1.0, 2.0, 3.0}, std::vector{3.0, 2.0, -10.0}), -1.0);
  EXPECT_EQ(spearman(std::vector{1.0, 2.0}, std::vector{5.0, 5.0}), 0.0);
  EXPECT_EQ(spearman(std::vector{1.0}, std::vector{5.0}), 0.0);
  // Ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4: Pearson's gives 4.5 / sqrt(4.5 * 5).
  EXPECT_NEAR(spearman(std::vector{1.0, 2.0, 2.0, 3.0}, std::vector{1.0, 2.0, 3.0, 4.0}), std::sqrt(0.9),
              1e-12);
}

}  // namespace
}
