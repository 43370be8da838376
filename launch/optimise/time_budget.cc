#include "launch/optimise/time_budget.h"

#include <algorithm>
#include <cmath>

namespace regraft::launch {
namespace {

// At most so much of the whole.
constexpr double kSearchShare = 0.45, kTrialShare = 0.25, kMeasureShare = 0.4, kProbeShare = 0.2;
constexpr double kLeastForTurns = 0.25;
constexpr double kLaterPart = 0.5;                                       // of the first measurement
constexpr double kRunsOfCheck = 40, kRunsOfSession = 4, kSessions = 20;  // about, and of a measurement
constexpr double kLoad_s = 0.6;                                          // a process and a model
constexpr int kMostThreads = 4;                                          // that more than one is worth
constexpr double kLeastProbes_s = 15, kMostProbes_s = 600;

}  // namespace

double TimeBudget::turns_s(double before_s) const {
  return std::max(seconds - before_s, seconds * kLeastForTurns);
}

double TimeBudget::search_s() const {
  return search.value_or(seconds * kSearchShare);
}

double TimeBudget::left_s(double spent_s) const {
  const auto beyond = [&](const std::optional<double>& own, double share) {
    return std::max(0.0, own.value_or(0) - seconds * share);
  };
  return seconds + beyond(search, kSearchShare) + beyond(trials, kTrialShare) +
         beyond(measure, kMeasureShare) - spent_s;
}

double TimeBudget::trials_s(double spent_s, double needed_s) const {
  return trials.value_or(std::clamp(left_s(spent_s) - needed_s, 0.0, seconds * kTrialShare));
}

double TimeBudget::measure_s(double spent_s, std::size_t point, std::size_t points) const {
  const double part = point == 0 ? 1 : kLaterPart;
  const double following = kLaterPart * static_cast<double>(points - 1 - point);
  const double left = left_s(spent_s) * part / (part + following);
  return measure ? *measure * part : std::clamp(left, 0.0, seconds * kMeasureShare * part);
}

double TimeBudget::probes_s(double spent_s, double needed_s) const {
  const double most = std::clamp(seconds * kProbeShare, kLeastProbes_s, kMostProbes_s);
  const double free_s =
      left_s(spent_s) - std::max(0.0, measure.value_or(0) - seconds * kMeasureShare) - needed_s;
  return std::clamp(free_s / 2, kLeastProbes_s, most);  // the result runs as long
}

double share_of_turn(double all_s, double spent_s, std::size_t turn, std::size_t turns) {
  const double left_s = all_s - spent_s, least_s = all_s / static_cast<double>(2 * turns);
  const double fit = std::min(std::floor(left_s / least_s), static_cast<double>(turns - turn));
  return fit < 1 ? 0 : left_s / fit;
}

double seconds_to_confirm(std::span<const double> run_s, int threads) {
  double needed = run_s.empty() ? 0 : kRunsOfCheck * std::min(threads, kMostThreads) * run_s[0];
  for (const double run : run_s) needed += kSessions * (kLoad_s + kRunsOfSession * run);
  return needed;
}

}
