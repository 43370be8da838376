#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <vector>

#include "core/exec/latency/launcher.h"
#include "core/exec/latency/trials.h"

namespace regraft::exec {

struct SettingsSearch {
  std::vector<SessionSetting> table;
  SessionSettings start;  // those that the table does not name stay
  TrialOptions trials;    // budget_s is for all of them
  /// Whether the model still computes the same with these settings. Asked before they are kept.
  std::function<bool(const SessionSettings&)> holds;
};

struct FoundSettings {
  SessionSettings settings;
  std::size_t tried = 0, known = 0;  // single changes of the start: measured, and all there are
};

/// Settings in which a model runs faster than in those at the start. Steepest coordinate descent: one trial
/// measures all single changes, as many as the time allows and in the table's order. Then the faster ones are
/// made one after another, the best first; each stays if another trial says that it still gains. What is
/// found is to be measured anew, by compare_latency. Throws what the launcher throws at the start.
FoundSettings find_settings(Launcher& launcher, const std::filesystem::path& model,
                            const SettingsSearch& search);

}
