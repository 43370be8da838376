#include "core/exec/latency/compare_latency.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "core/base/error.h"
#include "core/exec/runtime/exec_error.h"
#include "core/exec/tiny_models.h"

namespace regraft::exec {
namespace {

using testing::affine;
using ::testing::HasSubstr;
using testing::TempFolder;

constexpr std::uint64_t kSeed = 5;

/// Sessions drawn from a known distribution; remembers what was asked.
class FakeLauncher : public Launcher {
 public:
  FakeLauncher(double before_ms, double after_ms, double sigma, std::uint64_t seed = kSeed)
      : before_ms_(before_ms), after_ms_(after_ms), sigma_(sigma), rng_(seed, "fake sessions") {}

  Measurement measure(const MeasureRequest& request) override {
    requests.push_back(request);
    const double latency =
        (request.model == "before" ? before_ms_ : after_ms_) * std::exp(sigma_ * rng_.normal());
    return {0.5, std::vector<double>(static_cast<std::size_t>(request.plan.min_runs), latency), 0, 1000};
  }

  std::vector<MeasureRequest> requests;

 private:
  double before_ms_, after_ms_, sigma_;
  Rng rng_;
};

TEST(CompareLatency, AcceptsATenthFaster) {
  FakeLauncher launcher(110, 100, 0.01);
  const LatencyReport report = compare_latency(launcher, "before", "after", {});
  EXPECT_TRUE(report.accepted) << report.reason;
  EXPECT_NEAR(report.estimate.speedup, 1.10, 0.02);
  EXPECT_GT(report.estimate.low, 1.02);
  EXPECT_NEAR(report.before.latency_ms, 110, 3);
  EXPECT_NEAR(report.after.latency_ms, 100, 3);
}

TEST(CompareLatency, SeldomAcceptsTheSameSpeed) {
  int accepted = 0, second_series = 0;
  constexpr int kTrials = 100;
  LatencyOptions options;
  options.budget_s = 600;
  for (int trial = 0; trial < kTrials; ++trial) {
    FakeLauncher launcher(100, 100, 0.04, static_cast<std::uint64_t>(trial));
    const LatencyReport report = compare_latency(launcher, "before", "after", options);
    if (report.accepted) ++accepted;
    if (report.series == 2) ++second_series;
  }
  EXPECT_LE(accepted, kTrials / 20);
  EXPECT_GT(second_series, kTrials / 4);
}

TEST(CompareLatency, EndsHalfWayWhereItIsClear) {
  const auto sessions = [](double before_ms, double after_ms, double sigma, double beaten = 1) {
    FakeLauncher launcher(before_ms, after_ms, sigma);
    LatencyOptions options;
    options.until_clear = true;
    options.beaten = beaten;
    options.budget_s = 0;
    const LatencyReport report = compare_latency(launcher, "before", "after", options);
    EXPECT_EQ(report.before.session_ms.size(), static_cast<std::size_t>(report.sessions));
    EXPECT_EQ(report.accepted, before_ms > 1.01 * after_ms);
    return report.sessions;
  };
  EXPECT_EQ(sessions(110, 100, 0.005), 5);
  EXPECT_EQ(sessions(110, 100, 0.005, 1.08), 10) << "it may be no faster than another";
  EXPECT_EQ(sessions(100, 110, 0.005), 5);
  EXPECT_EQ(sessions(100, 100, 0.002), 5);
  EXPECT_EQ(sessions(104, 100, 0.01), 10);
  EXPECT_EQ(sessions(100, 100, 0.04), 10);
}

TEST(CompareLatency, SeldomEndsHalfWayByNoise) {
  int accepted = 0;
  for (std::uint64_t trial = 0; trial < 200; ++trial) {
    FakeLauncher launcher(100, 100, 0.04, trial);
    LatencyOptions options;
    options.until_clear = true;
    options.budget_s = 0;
    const LatencyReport report = compare_latency(launcher, "before", "after", options);
    if (report.accepted && report.sessions < options.min_sessions) ++accepted;
  }
  EXPECT_LE(accepted, 1);
}

TEST(CompareLatency, OneSideMayBeLeftToRunUnoptimised) {
  FakeLauncher launcher(100, 150, 0.01);
  LatencyOptions options;
  options.after_optimisation = Optimisation::none;
  const LatencyReport report = compare_latency(launcher, "before", "after", options);
  EXPECT_NEAR(report.estimate.speedup, 1 / 1.5, 0.02);
  EXPECT_EQ(to_json(report).at("optimisation_after"), "none");
  for (const MeasureRequest& request : launcher.requests)
    EXPECT_EQ(request.optimisation, request.model == "before" ? Optimisation::all : Optimisation::none);
}

TEST(CompareLatency, EachSideHasSettingsOfItsOwn) {
  FakeLauncher launcher(100, 100, 0.01);
  const SessionSettings one{{"a", "1"}}, other{{"b", "2"}};
  compare_latency(launcher, {"before", one}, {"after", other}, {});
  for (const MeasureRequest& request : launcher.requests)
    EXPECT_EQ(request.settings, request.model == "before" ? one : other);
}

TEST(CompareLatency, NamesWhatIsSlower) {
  const auto verdict = [](double before_ms, double after_ms) {
    FakeLauncher launcher(before_ms, after_ms, 0.01);
    return std::string(verdict_name(compare_latency(launcher, "before", "after", {})));
  };
  EXPECT_EQ(verdict(100, 150), "slower");
  EXPECT_EQ(verdict(150, 100), "faster");
  LatencyReport report;
  report.estimate = {0.99, 0.97, 1.01};
  EXPECT_EQ(verdict_name(report), "no difference shown");
}

TEST(CompareLatency, RefusesAGainBelowTheLeastEffect) {
  FakeLauncher launcher(100.5, 100, 0.0005);
  const LatencyReport report = compare_latency(launcher, "before", "after", {});
  EXPECT_FALSE(report.accepted);
  EXPECT_THAT(report.reason, HasSubstr("least gain"));
}

TEST(CompareLatency, ASecondSeriesDecidesWhatTheFirstLeavesOpen) {
  int first = 0, second = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    FakeLauncher launcher(102, 100, 0.03, seed);
    LatencyOptions options;
    options.budget_s = 600;
    const LatencyReport report = compare_latency(launcher, "before", "after", options);
    EXPECT_EQ(report.before.session_ms.size(), static_cast<std::size_t>(report.sessions));
    EXPECT_EQ(to_json(report).at("series"), report.series);
    if (report.accepted) ++(report.series == 2 ? second : first);
  }
  EXPECT_LT(first, 20);
  EXPECT_GT(first + second, 30);
}

TEST(CompareLatency, NoSecondSeriesWhereTheFirstRulesTheLeastEffectOut) {
  FakeLauncher launcher(100.2, 100, 0.001);
  LatencyOptions options;
  options.budget_s = 600;
  const LatencyReport report = compare_latency(launcher, "before", "after", options);
  EXPECT_FALSE(report.accepted);
  EXPECT_EQ(report.series, 1);
  EXPECT_EQ(launcher.requests.size(), static_cast<std::size_t>(2 + 2 * report.sessions));
}

TEST(CompareLatency, NoSecondSeriesWhereOneDoes) {
  FakeLauncher launcher(20, 20, 0.3);
  LatencyOptions options;
  options.budget_s = 600;
  options.one_series = true;
  EXPECT_EQ(compare_latency(launcher, "before", "after", options).series, 1);
}

/// Six of 14 sessions in a row are a little faster than is asked for, and eight slower.
class SplitLauncher : public Launcher {
 public:
  Measurement measure(const MeasureRequest& request) override {
    if (request.model == "before") return {0.5, {101}, 0, 1000};
    return {0.5, {100 / std::exp(sessions_++ % 14 < 6 ? 0.001 : -0.1)}, 0, 1000};
  }

 private:
  int sessions_ = 0;
};

TEST(CompareLatency, NoSecondSeriesBehindAnEarlyEnd) {
  SplitLauncher launcher;
  LatencyOptions options;
  options.budget_s = 600;
  options.max_sessions = 28;
  options.until_clear = true;
  const LatencyReport report = compare_latency(launcher, "before", "after", options);
  EXPECT_GT(report.estimate.high, kLeastSpeedup);
  EXPECT_EQ(report.sessions, options.max_sessions / 2);
  EXPECT_EQ(report.series, 1);
}

/// Equal models whose sessions scatter by sigma; says how many pairs ran in all, and checks their order.
std::pair<int, LatencyReport> pairs_in_random_order(double sigma) {
  FakeLauncher launcher(20, 20, sigma);
  int calls = 0, last_done = 0, last_planned = 0;
  LatencyOptions options;
  options.progress = [&](int done, int planned) {
    ++calls;
    EXPECT_EQ(done, last_done + 1);
    EXPECT_LE(done, planned);
    EXPECT_GE(planned, last_planned);
    last_done = done;
    last_planned = planned;
  };
  options.budget_s = 600;
  LatencyReport report = compare_latency(launcher, "before", "after", options);
  EXPECT_EQ(last_done, last_planned);
  const auto pairs = static_cast<int>(launcher.requests.size() / 2) - 1;
  EXPECT_EQ(calls, 2 * pairs);
  const std::span series_that_decided =
      std::span(launcher.requests).last(2 * report.before.session_ms.size());
  for (const auto& requests : {std::span(launcher.requests).subspan(2), series_that_decided}) {
    std::size_t before_first = 0;
    for (std::size_t i = 0; i < requests.size(); i += 2) {
      EXPECT_NE(requests[i].model, requests[i + 1].model);
      EXPECT_EQ(requests[i].plan.min_runs, requests[i + 1].plan.min_runs);
      if (requests[i].model == "before") ++before_first;
    }
    EXPECT_GT(before_first, 0u);
    EXPECT_LT(before_first, requests.size() / 2);
  }
  return {pairs, std::move(report)};
}

TEST(CompareLatency, RunsPairsInRandomOrderWithEqualPlans) {
  const auto [pairs, report] = pairs_in_random_order(0.001);
  EXPECT_EQ(report.series, 1);
  EXPECT_EQ(pairs, report.sessions);
  EXPECT_GE(report.sessions, 10);
}

TEST(CompareLatency, RunsThePairsOfASecondSeriesInTheSameWay) {
  const auto [pairs, report] = pairs_in_random_order(0.3);
  EXPECT_EQ(report.series, 2);
  const int first = pairs - report.sessions;
  EXPECT_EQ(first, LatencyOptions().max_sessions);
  EXPECT_GE(report.sessions, 2 * first);
}

Measurement probe(double load_s, double run_ms) {
  return {load_s, {run_ms}, run_ms / 1e3, 0};
}

double planned_seconds(const SessionPlan& plan, double load_s, double run_ms) {
  return 2 * plan.sessions * (0.3 + load_s + (plan.before.warmup_runs + plan.before.max_runs) * run_ms / 1e3);
}

TEST(PlanSessions, FitsTheBudget) {
  LatencyOptions options;
  const SessionPlan vit = plan_sessions(probe(1.2, 350), probe(1.2, 320), options);
  EXPECT_GE(vit.sessions, 10);
  EXPECT_GE(vit.before.min_runs, 3);
  EXPECT_LT(planned_seconds(vit, 1.2, 350), 75);
  const SessionPlan nasrnn = plan_sessions(probe(0.06, 1.3), probe(0.06, 1.0), options);
  EXPECT_EQ(nasrnn.sessions, 20);
  EXPECT_GE(nasrnn.second_series, 40);
  EXPECT_LE(planned_seconds(nasrnn, 0.06, 1.15) * (1 + nasrnn.second_series / 20.0), 60);
  EXPECT_EQ(vit.second_series, 0);
  EXPECT_GE(nasrnn.before.min_runs, 50);
  EXPECT_LT(planned_seconds(nasrnn, 0.06, 1.3), 20);
}

TEST(PlanSessions, CountsTheTurnsOfOthersOnABusyMachine) {
  const Measurement busy{0.3, {6.5}, 0.06, 0};
  const SessionPlan plan = plan_sessions(busy, busy, {});
  const double session_s = 0.3 + 0.3 + (plan.before.warmup_runs + plan.before.max_runs) * 0.06;
  EXPECT_LT(2 * plan.sessions * session_s, 75);
}

TEST(PlanSessions, NeverGoesBelowTheLeastSessions) {
  LatencyOptions options;
  options.budget_s = 1;
  const SessionPlan plan = plan_sessions(probe(5, 2000), probe(5, 2000), options);
  EXPECT_EQ(plan.sessions, 10);
  EXPECT_EQ(plan.before.min_runs, 3);
}

TEST(MeasureRequest, GoesThroughArguments) {
  MeasureRequest request{"m.onnx", 2, {3, 4, 5, 0.25}, "a folder/feed.json", 3, 17, Optimisation::basic};
  request.settings = {{"execution_mode", "ORT_PARALLEL"}, {"a.b", "x=y"}};
  const MeasureRequest again = request_from_arguments(to_arguments(request));
  EXPECT_EQ(again.model, request.model);
  EXPECT_EQ(again.threads, 2);
  EXPECT_EQ(again.plan.warmup_runs, 3);
  EXPECT_EQ(again.plan.min_runs, 4);
  EXPECT_EQ(again.plan.max_runs, 5);
  EXPECT_DOUBLE_EQ(again.plan.budget_s, 0.25);
  EXPECT_EQ(again.feed, request.feed);
  EXPECT_EQ(again.point, 3u);
  EXPECT_EQ(again.seed, 17u);
  EXPECT_EQ(again.optimisation, Optimisation::basic);
  EXPECT_EQ(again.settings, request.settings);
}

TEST(MeasureRequest, RefusesWhatItDoesNotKnow) {
  EXPECT_THROW(request_from_arguments({}), UsageError);
  EXPECT_THROW(request_from_arguments({"m.onnx", "--thread", "1"}), UsageError);
  EXPECT_THROW(request_from_arguments({"m.onnx", "--threads"}), UsageError);
  EXPECT_THROW(request_from_arguments({"m.onnx", "--threads", "two"}), UsageError);
  EXPECT_THROW(request_from_arguments({"m.onnx", "--bind", "batch"}), UsageError);
  EXPECT_THROW(request_from_arguments({"m.onnx", "--optimisation", "some"}), UsageError);
}

TEST(ProcessLauncher, MeasuresInAFreshProcess) {
  const TempFolder folder;
  ProcessLauncher launcher(REGRAFT_BINARY_DIR "/core/exec/core_exec_measure", {});
  const MeasureRequest request{affine(2, 1).write(folder / "m.onnx"), 1, {1, 4, 4, 0}, {}, 0, 1};
  const Measurement measurement = launcher.measure(request);
  EXPECT_EQ(measurement.run_ms.size(), 4u);
  EXPECT_GT(measurement.latency_ms(), 0);
  EXPECT_GT(measurement.load_s, 0);
  EXPECT_GT(measurement.peak_rss_bytes, 1u << 20);
}

TEST(ProcessLauncher, PassesOnWhatTheChildSaid) {
  ProcessLauncher launcher(REGRAFT_BINARY_DIR "/core/exec/core_exec_measure", {});
  try {
    launcher.measure({"/no/such/model.onnx", 1, {}, {}, 1});
    FAIL() << "measured a model that does not exist";
  } catch (const ExecError& error) {
    EXPECT_THAT(error.what(), HasSubstr("/no/such/model.onnx"));
  }
}

TEST(Measurement, LatencyIsTheFirstDecile) {
  EXPECT_DOUBLE_EQ((Measurement{0, {9, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11}, 0, 0}).latency_ms(), 2);
  EXPECT_THROW((Measurement{}).latency_ms(), ExecError);
}

TEST(Measurement, GoesThroughJson) {
  const Measurement measurement{0.5, {1.25, 2.5}, 0.125, 77};
  const Measurement again = measurement_from_json(to_json(measurement).dump());
  EXPECT_EQ(again.run_ms, measurement.run_ms);
  EXPECT_EQ(again.run_wall_s, 0.125);
  EXPECT_EQ(again.peak_rss_bytes, 77u);
  EXPECT_THROW(measurement_from_json("{}"), ExecError);
  EXPECT_THROW(measurement_from_json("no json"), ExecError);
}

}  // namespace
}
