#include "learner/optimiser/sep_cma_es.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "core/base/error.h"
#include "replay/rollout/replay_error.h"

namespace regraft::learner {
namespace {

using Loss = std::function<double(const std::vector<double>&)>;

double ellipsoid(const std::vector<double>& x) {  // condition number 1e6
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    sum +=
        std::pow(1e6, static_cast<double>(i) / static_cast<double>(x.size() - 1)) * (x[i] - 1) * (x[i] - 1);
  return sum;
}

double rosenbrock(const std::vector<double>& x) {
  double sum = 0;
  for (std::size_t i = 0; i + 1 < x.size(); ++i)
    sum += 100 * std::pow(x[i + 1] - x[i] * x[i], 2) + std::pow(1 - x[i], 2);
  return sum;
}

void run(SepCmaEs& es, const Loss& loss, int generations) {
  for (int g = 0; g < generations; ++g) {
    std::vector<double> losses;
    for (const auto& candidate : es.ask()) losses.push_back(loss(candidate));
    es.tell(losses);
  }
}

TEST(SepCmaEs, SolvesAnIllConditionedEllipsoid) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    SepCmaEs es(std::vector<double>(20, 0.0), {.sigma = 0.5, .seed = seed});
    run(es, ellipsoid, 900);
    EXPECT_LT(ellipsoid(es.mean()), 1e-9) << "seed " << seed;
  }
}

TEST(SepCmaEs, FollowsACurvedValley) {
  SepCmaEs es(std::vector<double>(4, 0.0), {.sigma = 0.3, .population = 12, .seed = 5});
  run(es, rosenbrock, 8000);
  EXPECT_LT(rosenbrock(es.mean()), 1e-6);
}

TEST(SepCmaEs, TheOrderOfLossesIsAllThatCounts) {
  SepCmaEs plain({0, 0, 0}, {.seed = 9}), warped({0, 0, 0}, {.seed = 9});
  run(plain, ellipsoid, 30);
  run(
      warped, [](const auto& x) { return std::log(ellipsoid(x)) * 1e3 - 7; }, 30);
  EXPECT_EQ(plain.mean(), warped.mean());
  EXPECT_EQ(plain.sigma(), warped.sigma());
}

TEST(SepCmaEs, WithLossesOfChanceTheStepSizeStays) {
  Rng rng(3, "chance");
  double sum = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SepCmaEs es(std::vector<double>(10, 0.0), {.sigma = 1, .seed = seed});
    run(
        es, [&](const auto&) { return rng.uniform(); }, 100);
    sum += std::log(es.sigma());
  }
  EXPECT_NEAR(sum / 20, 0, 0.7) << "unbiased under random selection";
}

TEST(SepCmaEs, StaysFiniteWhereNothingDiffersAnyMore) {
  SepCmaEs es({0, 0}, {.seed = 8});
  run(
      es, [](const auto&) { return 0.0; }, 20'000);
  EXPECT_TRUE(std::isfinite(es.sigma()) && std::isfinite(es.mean()[0]) && std::isfinite(es.mean()[1]));
}

TEST(SepCmaEs, WhatIsNotANumberIsTheWorst) {
  SepCmaEs es({5, 5}, {.seed = 2});
  run(
      es,
      [](const auto& x) {
        return x[0] < 4 ? std::numeric_limits<double>::quiet_NaN() : x[0] * x[0] + x[1] * x[1];
      },
      300);
  EXPECT_NEAR(es.mean()[0], 4, 0.05);
  EXPECT_NEAR(es.mean()[1], 0, 0.05);
}

TEST(SepCmaEs, ResumedEqualsUninterrupted) {
  SepCmaEs whole({1, 2, 3}, {.seed = 4}), first({1, 2, 3}, {.seed = 4}), second({0, 0, 0}, {.seed = 99});
  run(whole, ellipsoid, 40);
  run(first, ellipsoid, 25);
  first.ask();  // in the middle of a generation
  second.restore(first.save());
  run(second, ellipsoid, 15);
  EXPECT_EQ(second.mean(), whole.mean());
  EXPECT_EQ(second.sigma(), whole.sigma());
  EXPECT_EQ(second.generation(), 40u);
}

TEST(SepCmaEs, BadInputIsRefused) {
  EXPECT_THROW(SepCmaEs({}, {}), UsageError);
  EXPECT_THROW(SepCmaEs({1}, {.sigma = 0}), UsageError);
  EXPECT_THROW(SepCmaEs({1}, {.population = 3}), UsageError);
  SepCmaEs es({1, 2}, {});
  EXPECT_THROW(es.tell(std::vector<double>{1}), UsageError);
  std::vector<std::byte> bytes = es.save();
  bytes.pop_back();
  EXPECT_THROW(es.restore(bytes), replay::ReplayError);
  EXPECT_THROW(es.restore(SepCmaEs({1}, {}).save()), replay::ReplayError);
}

}  // namespace
}
