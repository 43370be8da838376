#include "core/exec/latency/speedup_estimate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/exec/runtime/exec_error.h"

namespace regraft::exec {
namespace {

constexpr std::uint64_t kSeed = 20;

TEST(HodgesLehmann, IsTheMedianOfPairwiseMeans) {
  EXPECT_DOUBLE_EQ(hodges_lehmann(std::vector<double>{3}), 3);
  EXPECT_DOUBLE_EQ(hodges_lehmann(std::vector<double>{1, 3}), 2);
  EXPECT_DOUBLE_EQ(hodges_lehmann(std::vector<double>{1, 2, 3, 4, 1000}), 3);
}

/// Pairs of latencies: multiplicative noise of `sigma` on each session, and a drift common to a pair.
struct Pairs {
  std::vector<double> before, after;
};
Pairs simulate(double speedup, double sigma, std::size_t pairs, Rng& rng) {
  Pairs drawn;
  for (std::size_t i = 0; i < pairs; ++i) {
    const double drift = 1 + 0.3 * std::sin(static_cast<double>(i));
    drawn.before.push_back(10 * drift * std::exp(sigma * rng.normal()));
    drawn.after.push_back(10 / speedup * drift * std::exp(sigma * rng.normal()));
  }
  return drawn;
}

TEST(Speedup, PairsCancelDrift) {
  Rng rng(kSeed, "paired");
  const Pairs drawn = simulate(1.25, 0.001, 10, rng);
  const SpeedupEstimate estimate = estimate_speedup(drawn.before, drawn.after, rng);
  EXPECT_NEAR(estimate.speedup, 1.25, 0.005);
  EXPECT_GT(estimate.low, 1.24);
  EXPECT_LT(estimate.high, 1.26);
}

TEST(Speedup, IntervalCoversTheTruthAsOftenAsItSays) {
  for (const std::size_t pairs : {std::size_t{10}, std::size_t{20}}) {
    int covered = 0;
    constexpr int kTrials = 200;
    Rng rng(kSeed, "coverage");
    for (int trial = 0; trial < kTrials; ++trial) {
      const Pairs drawn = simulate(1.1, 0.03, pairs, rng);
      const SpeedupEstimate estimate = estimate_speedup(drawn.before, drawn.after, rng);
      if (estimate.low <= 1.1 && 1.1 <= estimate.high) ++covered;
    }
    EXPECT_GE(covered, kTrials * 92 / 100) << pairs << " pairs, seed " << kSeed;
  }
}

TEST(Control, GrowsWithTheNoiseOfOneFile) {
  Rng rng(kSeed, "control");
  const Pairs quiet = simulate(1, 0.002, 20, rng);
  EXPECT_NEAR(control_spread(std::vector<double>(20, 5.0), rng), 1.0, 1e-12);
  std::vector<double> loud(20);
  for (double& value : loud) value = 10 * std::exp(0.1 * rng.normal());
  const double spread = control_spread(loud, rng);
  EXPECT_GT(spread, 1.02);
  EXPECT_LT(spread, 1.3);
  EXPECT_THROW(control_spread(std::vector<double>(3, 5.0), rng), ExecError);
}

TEST(Judge, NeedsTheLeastEffectTheIntervalAndTheControl) {
  EXPECT_TRUE(judge({1.10, 1.08, 1.12}, 1.01).accepted);
  EXPECT_FALSE(judge({1.008, 1.006, 1.01}, 1.001).accepted);
  EXPECT_FALSE(judge({1.10, 0.99, 1.2}, 1.01).accepted);
  EXPECT_TRUE(judge({1.10, 1.08, 1.12}, 1.01, 1.05, 1.07).accepted);
  EXPECT_FALSE(judge({1.10, 1.08, 1.12}, 1.01, 1.05, 1.09).accepted) << "it may be no faster than another";
  EXPECT_FALSE(judge({1.10, 1.05, 1.2}, 1.11).accepted);
  EXPECT_FALSE(judge({0.9, 0.85, 0.95}, 1.01).accepted);
}

/// Share of trials accepted at a true speedup.
double acceptance_rate(double speedup, double sigma, std::size_t pairs) {
  constexpr int kTrials = 100;
  Rng rng(kSeed, "acceptance");
  int accepted = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    const Pairs drawn = simulate(speedup, sigma, pairs, rng);
    // The control sees sessions of one file without the pairs' drift being cancelled: quiet machine here.
    std::vector<double> control;
    for (std::size_t i = 0; i < pairs; ++i) control.push_back(10 * std::exp(sigma * rng.normal()));
    const SpeedupEstimate estimate = estimate_speedup(drawn.before, drawn.after, rng);
    if (judge(estimate, control_spread(control, rng)).accepted) ++accepted;
  }
  return static_cast<double>(accepted) / kTrials;
}

TEST(Judge, SeldomAcceptsWhatIsNotFasterAndFindsWhatIs) {
  for (const double sigma : {0.01, 0.03, 0.08}) {
    EXPECT_LE(acceptance_rate(1.0, sigma, 10), 0.05) << "sigma " << sigma << ", seed " << kSeed;
  }
  EXPECT_GE(acceptance_rate(1.10, 0.01, 10), 0.99) << "seed " << kSeed;
  EXPECT_GE(acceptance_rate(1.10, 0.03, 20), 0.9) << "seed " << kSeed;
}

}  // namespace
}
