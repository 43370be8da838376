#include "core/exec/latency/settings_search.h"

#include <algorithm>

namespace regraft::exec {
namespace {

constexpr double kShareOfSingles = 0.7;  // of the time

struct Change {
  const SessionSetting* setting;
  std::string value;
  double speedup = 0;
};

/// All single changes, in the table's order.
std::vector<Change> changes_of(const SettingsSearch& search) {
  std::vector<Change> changes;
  for (const SessionSetting& setting : search.table)
    for (const std::string& value : setting.values)
      if (with_value(search.start, setting, value) != search.start) changes.push_back({&setting, value});
  return changes;
}

bool gains(const SpeedupEstimate& estimate) {
  return estimate.low > 1 && estimate.speedup >= kLeastSpeedup;
}

}  // namespace

FoundSettings find_settings(Launcher& launcher, const std::filesystem::path& model,
                            const SettingsSearch& search) {
  FoundSettings found{search.start};
  std::vector<Change> changes = changes_of(search);
  found.known = changes.size();
  TrialOptions trials = search.trials;
  trials.budget_s *= kShareOfSingles;
  const Measurement start = probe(launcher, {model, search.start}, trials);
  changes.resize(std::min(changes.size(), affordable_contenders(start, trials)));
  found.tried = changes.size();
  std::vector<TimedModel> contenders;
  for (const Change& change : changes)
    contenders.emplace_back(model, with_value(search.start, *change.setting, change.value));
  const std::vector<SpeedupEstimate> singles =
      run_trials(launcher, {model, search.start}, start, contenders, trials);
  std::vector<Change> gaining;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    changes[i].speedup = singles[i].speedup;
    if (gains(singles[i])) gaining.push_back(changes[i]);
  }
  std::ranges::stable_sort(gaining, std::greater<>(), &Change::speedup);
  trials.budget_s = (search.trials.budget_s - trials.budget_s) / static_cast<double>(gaining.size());
  for (const Change& change : gaining) {
    ++trials.seed;
    const TimedModel next(model, with_value(found.settings, *change.setting, change.value));
    const auto again = run_trials(launcher, {model, found.settings}, start, std::span(&next, 1), trials);
    if (gains(again[0]) && search.holds(next.settings)) found.settings = next.settings;
  }
  return found;
}

}
