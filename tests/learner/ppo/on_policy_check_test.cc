#include "learner/ppo/on_policy_check.h"

#include <gmock/gmock.h>

#include "core/base/file.h"
#include "core/base/log.h"

namespace regraft::learner {
namespace {

using ::testing::HasSubstr;

PpoMetrics seen(double largest, double p999, std::size_t steps = 100) {
  PpoMetrics metrics;
  metrics.lag0_steps = steps;
  metrics.lag0_ratio_max = largest;
  metrics.lag0_ratio_p999 = p999;
  return metrics;
}

TEST(OnPolicyCheck, BoundsAreThoseOfTheDevice) {
  OnPolicyCheck cpu(false, "cpu"), gpu(false, "cuda");
  EXPECT_TRUE(cpu.add(seen(0.5, 9e-5))) << "one in a thousand may be anything";
  EXPECT_FALSE(cpu.add(seen(2e-4, 2e-4)));
  EXPECT_TRUE(gpu.add(seen(2e-4, 2e-4)));
  EXPECT_FALSE(gpu.add(seen(2e-3, 2e-3)));
}

TEST(OnPolicyCheck, InDeterministicModeEveryDecisionCounts) {
  OnPolicyCheck check(true, "cpu");
  EXPECT_TRUE(check.add(seen(9e-6, 1e-6)));
  EXPECT_FALSE(check.add(seen(2e-5, 1e-6)));
}

TEST(OnPolicyCheck, KeepsTheRecordOfTheWholeRun) {
  OnPolicyCheck check(false, "cpu");
  check.restore({.ratio_error = 2e-6, .steps = 7});
  check.add(seen(1e-6, 1e-6, 5));
  EXPECT_EQ(check.record().steps, 12u);
  EXPECT_EQ(check.record().ratio_error, 2e-6);
  check.add(seen(3e-6, 1e-6, 1));
  EXPECT_EQ(check.record().ratio_error, 3e-6);
}

TEST(OnPolicyCheck, WarnsOnce) {
  const TempDir dir;
  start_log("info", "learner", dir.path() / "log");
  OnPolicyCheck check(false, "cpu");
  check.add(seen(1e-5, 1e-5));
  check.add(seen(0.25, 0.125));
  check.add(seen(0.5, 0.5));
  start_log("warning", "");
  const std::string log = read_file(dir.path() / "log");
  EXPECT_THAT(log, HasSubstr("is 0.12 at the 99.9th percentile, over the bound of 0.0001"));
  EXPECT_EQ(log.find("lag 0"), log.rfind("lag 0"));
}

}  // namespace
}
