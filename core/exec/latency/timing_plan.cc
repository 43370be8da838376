#include "core/exec/latency/timing_plan.h"

#include <algorithm>

namespace regraft::exec {
namespace {

constexpr double kProcessStart_s = 0.3;
constexpr double kTimedRuns_s = 0.1;
constexpr int kMostTimedRuns = 300;

}  // namespace

TimingPlan timing_plan(double run_s, int least_runs) {
  const int runs = std::clamp(static_cast<int>(kTimedRuns_s / run_s), least_runs, kMostTimedRuns);
  const int warmup_runs = std::clamp(runs / 10, 1, 10);
  return {warmup_runs, runs, runs, 0};
}

double session_seconds(const Measurement& probe, const TimingPlan& plan) {
  const double run_s = std::max(probe.run_wall_s, probe.latency_ms() / 1e3);
  return kProcessStart_s + probe.load_s + (plan.warmup_runs + plan.max_runs) * run_s;
}

}
