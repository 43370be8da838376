#include "core/exec/latency/compare_latency.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "core/base/stats.h"
#include "core/exec/latency/timing_plan.h"

namespace regraft::exec {
namespace {

constexpr int kLeastRuns = 3;
constexpr int kWantedRuns = 5;
constexpr int kLeastSecondSeries = 2, kMostSecondSeries = 4;  // times the sessions of the first
constexpr int kLeastClear = 5;                                // pairs
constexpr double kClearlyFaster = 8, kClearlyNot = 4;         // standard errors

/// Collects the sessions of one side.
class Side {
 public:
  Side(Launcher& launcher, MeasureRequest request) : launcher_(launcher), request_(std::move(request)) {}

  Measurement probe() {
    request_.plan = kProbe;
    return launcher_.measure(request_);
  }
  void use(const TimingPlan& plan) { request_.plan = plan; }
  void begin_series() {
    result_.session_ms.clear();
    load_s_.clear();
  }
  void run_session() {
    const Measurement measurement = launcher_.measure(request_);
    result_.session_ms.push_back(measurement.latency_ms());
    load_s_.push_back(measurement.load_s);
    result_.peak_rss_bytes = std::max(result_.peak_rss_bytes, measurement.peak_rss_bytes);
  }
  SideLatency result() const {
    SideLatency side = result_;
    side.latency_ms = median(side.session_ms);
    side.load_s = median(load_s_);
    return side;
  }

 private:
  Launcher& launcher_;
  MeasureRequest request_;
  SideLatency result_;
  std::vector<double> load_s_;
};

}  // namespace

SessionPlan plan_sessions(const Measurement& probe_before, const Measurement& probe_after,
                          const LatencyOptions& options) {
  // Both sides get the runs that the slower one affords.
  const double run_s = std::max(probe_before.latency_ms(), probe_after.latency_ms()) / 1e3;
  SessionPlan plan;
  for (const int least_runs : {kWantedRuns, kLeastRuns}) {
    plan.before = plan.after = timing_plan(run_s, least_runs);
    const double pair_s =
        session_seconds(probe_before, plan.before) + session_seconds(probe_after, plan.after);
    const auto affordable = static_cast<int>(std::min(options.budget_s / pair_s, 1e6));
    plan.sessions =
        std::clamp(affordable, options.min_sessions, std::max(options.min_sessions, options.max_sessions));
    const int left = std::min(affordable - plan.sessions, kMostSecondSeries * plan.sessions);
    plan.second_series = left < kLeastSecondSeries * plan.sessions ? 0 : left;
    if (affordable >= options.min_sessions) break;
  }
  return plan;
}

LatencyReport compare_latency(Launcher& launcher, const TimedModel& before, const TimedModel& after,
                              const LatencyOptions& options) {
  MeasureRequest request{before.model, options.threads, {}, options.feed, options.point, options.seed};
  request.settings = before.settings;
  Side old_side(launcher, request);
  request.model = after.model;
  request.settings = after.settings;
  request.optimisation = options.after_optimisation;
  Side new_side(launcher, request);
  const Measurement probe_before = old_side.probe();
  const Measurement probe_after = new_side.probe();
  const SessionPlan plan = plan_sessions(probe_before, probe_after, options);
  old_side.use(plan.before);
  new_side.use(plan.after);

  Rng order(options.seed, "latency order"), resampling(options.seed, "latency bootstrap");
  LatencyReport report;
  report.after_optimisation = options.after_optimisation;
  int sessions_before = 0;
  const auto run_series = [&](int sessions) {
    old_side.begin_series();
    new_side.begin_series();
    const auto judge_sessions = [&](int count) {
      report.sessions = count;
      report.before = old_side.result();
      report.after = new_side.result();
      report.estimate = estimate_speedup(report.before.session_ms, report.after.session_ms, resampling);
      report.control = control_spread(report.before.session_ms, resampling);
      Verdict verdict = judge(report.estimate, report.control, options.least_speedup, options.beaten);
      report.accepted = verdict.accepted;
      report.reason = std::move(verdict.reason);
    };
    const auto errors_above = [&](double speedup) {
      return standard_errors_above(speedup, report.before.session_ms, report.after.session_ms);
    };
    ++report.series;
    for (int pair = 0; pair < sessions; ++pair) {
      if (options.until_clear && pair >= kLeastClear && pair == sessions / 2) {
        judge_sessions(pair);
        if (report.accepted ? errors_above(options.beaten) >= kClearlyFaster
                            : errors_above(options.least_speedup) <= -kClearlyNot)
          return;
      }
      const bool old_first = (order.next() >> 63) != 0;
      for (const bool turn_of_old : {old_first, !old_first}) {
        (turn_of_old ? old_side : new_side).run_session();
        const int done = 2 * pair + (turn_of_old == old_first ? 1 : 2);
        if (options.progress) options.progress(2 * sessions_before + done, 2 * (sessions_before + sessions));
      }
    }
    sessions_before += sessions;
    judge_sessions(sessions);
  };
  const auto start = std::chrono::steady_clock::now();
  run_series(plan.sessions);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  const double affordable = (options.budget_s - spent.count()) / spent.count() * plan.sessions;
  const int more = static_cast<int>(std::min<double>(plan.second_series, affordable));
  const bool ends = options.one_series || report.sessions < plan.sessions;
  const bool open = !ends && !report.accepted && report.estimate.high >= options.least_speedup;
  if (open && more > 0 && more >= kLeastSecondSeries * plan.sessions) run_series(more);
  return report;
}

std::string_view verdict_name(const LatencyReport& report) {
  if (report.accepted) return "faster";
  return report.estimate.high < 1 ? "slower" : "no difference shown";
}

nlohmann::json to_json(const LatencyReport& report) {
  return {{"accepted", report.accepted},
          {"reason", report.reason},
          {"speedup", report.estimate.speedup},
          {"speedup_low", report.estimate.low},
          {"speedup_high", report.estimate.high},
          {"control_spread", report.control},
          {"sessions", report.sessions},
          {"series", report.series},
          {"optimisation_after", optimisation_name(report.after_optimisation)},
          {"latency_before_ms", report.before.latency_ms},
          {"latency_after_ms", report.after.latency_ms},
          {"load_before_s", report.before.load_s},
          {"load_after_s", report.after.load_s},
          {"peak_rss_before_bytes", report.before.peak_rss_bytes},
          {"peak_rss_after_bytes", report.after.peak_rss_bytes},
          {"session_before_ms", report.before.session_ms},
          {"session_after_ms", report.after.session_ms}};
}

}
