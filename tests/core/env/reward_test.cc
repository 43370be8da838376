#include "core/env/reward.h"

#include <gtest/gtest.h>

#include "core/env/env_error.h"
#include "core/env/synthetic.h"

namespace regraft::env {
namespace {

TEST(Reward, DetailedIsTheWeightedMeanOfRelativeGains) {
  const SyntheticTask task = make_synthetic_task({.chains = 2});
  const cost::Cost initial{
      .latency_us = 100, .flops = 2000, .bytes = 1, .peak_memory_bytes = 50, .launches = 0};
  const cost::Cost before{
      .latency_us = 80, .flops = 2000, .bytes = 9, .peak_memory_bytes = 40, .launches = 3};
  const cost::Cost after{.latency_us = 90, .flops = 1000, .bytes = 5, .peak_memory_bytes = 20, .launches = 1};
  const auto pay = [&](const RewardWeights& weights) {
    return make_reward(RewardKind::detailed, {.weights = weights})
        ->pay({initial, before, after, *task.start});
  };
  EXPECT_DOUBLE_EQ(pay({}), -0.1) << "latency alone by default";
  EXPECT_DOUBLE_EQ(pay({.latency = 0, .flops = 2}), 0.5);
  EXPECT_DOUBLE_EQ(pay({.latency = 0, .memory = 1}), 0.4);
  EXPECT_DOUBLE_EQ(pay({.latency = 0, .launches = 1}), 0) << "relative to nothing";
  EXPECT_DOUBLE_EQ(pay({2, 1, 1, 4}), (2 * -0.1 + 0.5 + 0.4) / 8);
  EXPECT_THROW(pay({.latency = 0}), EnvError);
  EXPECT_THROW(pay({.latency = 2, .flops = -1}), EnvError);
}

/// Measures what the test says next.
class ScriptedMeter : public LatencyMeter {
 public:
  double latency_us(const graph::Graph&) override {
    ++measured;
    return next_us;
  }
  double next_us = 0;
  std::size_t measured = 0;
};

TEST(Reward, MeasuredGoesByTheMedianOfAFewMeasurements) {
  const SyntheticTask task = make_synthetic_task({.chains = 2}), larger = make_synthetic_task({.chains = 3});
  ScriptedMeter meter;
  const auto reward = make_reward(RewardKind::measured, {.meter = &meter});
  const cost::Cost cost;
  // What an episode of one step earns, where the initial graph and the last one are measured so.
  const auto earn = [&](double initial_us, double last_us) {
    meter.next_us = initial_us;
    reward->reset(*task.start);
    meter.next_us = last_us;
    return reward->pay({cost, cost, cost, *larger.start, 1, true});
  };
  EXPECT_DOUBLE_EQ(earn(100, 80), 0.2);
  EXPECT_DOUBLE_EQ(earn(300, 60), (200.0 - 70) / 200) << "of two, their mean";
  EXPECT_DOUBLE_EQ(earn(110, 88), (110.0 - 80) / 110) << "of three, the middle one: 300 was a disturbance";
  earn(90, 80);
  EXPECT_DOUBLE_EQ(earn(105, 500), (105.0 - 80) / 105);
  EXPECT_EQ(meter.measured, 2 * kMostMeasurements);
  EXPECT_DOUBLE_EQ(earn(1, 1), (105.0 - 80) / 105) << "enough is known";
  EXPECT_EQ(meter.measured, 2 * kMostMeasurements);
}

TEST(Reward, BestPaysForNewBestGraphsOnly) {
  const cost::Cost initial{.latency_us = 100};
  const SyntheticTask task = make_synthetic_task({.chains = 2});
  const auto reward = make_reward(RewardKind::best);
  double before_us = 100;
  const auto pay = [&](double after_us) {
    const cost::Cost before{.latency_us = before_us}, after{.latency_us = after_us};
    before_us = after_us;
    return reward->pay({initial, before, after, *task.start});
  };
  EXPECT_EQ(pay(110), 0) << "a way up costs nothing";
  EXPECT_EQ(pay(105), 0) << "nor is the way back paid";
  EXPECT_DOUBLE_EQ(pay(90), 0.10);
  EXPECT_EQ(pay(95), 0);
  const auto other = reward->clone();
  EXPECT_DOUBLE_EQ(pay(80), 0.10);
  EXPECT_DOUBLE_EQ(other->pay({initial, initial, {.latency_us = 70}, *task.start}), 0.20)
      << "from the same point";
  reward->reset(*task.start);
  EXPECT_DOUBLE_EQ(pay(99), 0.01);
}

}  // namespace
}
