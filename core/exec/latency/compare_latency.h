#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/exec/latency/launcher.h"
#include "core/exec/latency/speedup_estimate.h"

namespace regraft::exec {

struct LatencyOptions {
  int threads = 1;
  int min_sessions = 10;                      // a side
  int max_sessions = 20;                      // of the first series
  double budget_s = 60;                       // aimed at; exceeded where min_sessions need more
  std::optional<std::filesystem::path> feed;  // as in MeasureRequest
  std::size_t point = 0;
  std::uint64_t seed = 0;
  double least_speedup = kLeastSpeedup;                 // that is accepted
  double beaten = 1;                                    // the speedup that the whole interval must lie above
  bool until_clear = false;                             // a series may end half-way (compare_latency)
  bool one_series = false;                              // whatever it leaves open
  Optimisation after_optimisation = Optimisation::all;  // what the runtime itself makes of `after`
  /// Called after each session, with sessions done and planned of both sides; may be empty. A second series
  /// raises what is planned.
  std::function<void(int done, int planned)> progress;
};

/// How the budget is spent.
struct SessionPlan {
  int sessions = 0;  // a side
  TimingPlan before, after;
  int second_series = 0;  // sessions a side, where the first ones leave the verdict open
};

/// Sizes the sessions from one probe of each side: about 0.1 s of runs a session, at least 3 runs, 5 where
/// the budget allows. Then as many sessions follow as fit between the two bounds. What is left of the budget
/// is for a second series of 2 to 4 times as many.
SessionPlan plan_sessions(const Measurement& probe_before, const Measurement& probe_after,
                          const LatencyOptions& options);

/// One model's sessions, in the order they ran.
struct SideLatency {
  std::vector<double> session_ms;
  double latency_ms = 0;  // median over the sessions
  double load_s = 0;      // median over the sessions
  std::uint64_t peak_rss_bytes = 0;
};

struct LatencyReport {
  bool accepted = false;
  std::string reason;
  SpeedupEstimate estimate;
  double control = 1;  // control_spread of the baseline's sessions
  SideLatency before, after;
  int sessions = 0;  // a side, of the series that decided
  int series = 0;    // that ran: 1 or 2
  Optimisation after_optimisation = Optimisation::all;
};

/// "faster" where the report is accepted, "slower" where its whole interval is below 1, else "no difference
/// shown".
std::string_view verdict_name(const LatencyReport& report);

/// Paired latency. After one probe a side, fresh sessions run in pairs, each pair in random order. Every
/// session has the runtime's best options, except for options.after_optimisation and for the settings of a
/// side. The verdict is judge()'s. Where it refuses, but the interval reaches the least speedup, a second
/// series of sessions decides without those of the first, if the budget holds one. That is a second chance
/// for noise: of 1,500 simulated pairs of equal speed the first series accepted 0.9 %, the second one 0.5 %
/// more.
/// With options.until_clear a series of at least 10 pairs ends half-way where it is clear by then. Either
/// judge() accepts and the mean log ratio lies 8 standard errors above what is to be beaten: of 10,000 equal
/// pairs of normal noise 7 get there. Or it lies 4 below the least speedup. The progress then stays behind
/// what was planned. Throws what the launcher throws.
LatencyReport compare_latency(Launcher& launcher, const TimedModel& before, const TimedModel& after,
                              const LatencyOptions& options);

/// Keys: accepted, reason, speedup, speedup_low, speedup_high, latency_before_ms, latency_after_ms,
/// control_spread, sessions (a side, of the series that decided), series (that ran: 1 or 2),
/// optimisation_after; and of both sides load, memory and session times.
nlohmann::json to_json(const LatencyReport& report);

}
