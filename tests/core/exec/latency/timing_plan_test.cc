#include "core/exec/latency/timing_plan.h"

#include <gtest/gtest.h>

namespace regraft::exec {
namespace {

TEST(TimingPlan, IsATenthOfASecondOfRunsWithinBounds) {
  const auto runs = [](double run_s, int least) {
    const TimingPlan plan = timing_plan(run_s, least);
    EXPECT_EQ(plan.min_runs, plan.max_runs) << "the number is fixed";
    EXPECT_GE(plan.warmup_runs, 1);
    EXPECT_LE(plan.warmup_runs, 10);
    return plan.max_runs;
  };
  EXPECT_EQ(runs(1e-3, 5), 100);
  EXPECT_EQ(runs(1e-7, 5), 300) << "at most";
  EXPECT_EQ(runs(1, 5), 5) << "at least";
}

TEST(TimingPlan, ASessionTakesItsStartItsLoadAndAllItsRuns) {
  Measurement probe;
  probe.load_s = 2;
  probe.run_wall_s = 0.5;
  probe.run_ms = {100};
  const TimingPlan plan{1, 3, 3, 0};
  EXPECT_DOUBLE_EQ(session_seconds(probe, plan), 0.3 + 2 + 4 * 0.5);
  probe.run_wall_s = 0;
  EXPECT_DOUBLE_EQ(session_seconds(probe, plan), 0.3 + 2 + 4 * 0.1) << "by the latency where it is longer";
}

}  // namespace
}
