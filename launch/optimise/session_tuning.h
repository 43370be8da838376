#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/exec/latency/compare_latency.h"
#include "launch/call/subprocess_checks.h"
#include "launch/optimise/optimise_options.h"
#include "launch/optimise/runtime_choice.h"

namespace regraft::launch {

/// What --settings found; without it, nothing.
struct SettingsReport {
  exec::SessionSettings input, output;             // in which each is measured
  std::optional<exec::SpeedupEstimate> gain = {};  // of the input by its settings alone, confirmed
  std::size_t tried = 0, known = 0;                // single changes, of both models

  /// Keys: input, output, speedup, speedup_low, speedup_high, tried, known. Always all of them.
  nlohmann::json to_json() const;
  /// The settings of the output, as OUT.session.json holds them.
  std::string file() const;
  /// What a person reads, by lines, and how Python runs the result, `model`. `rewrites`: how much faster it
  /// is than the input in the input's settings.
  std::vector<std::string> lines(const std::string& model, std::optional<double> rewrites) const;
};

/// Removes what an earlier call with --settings left beside the output, and says so: a call without it made
/// another model, to which they do not belong. What holds no settings stays.
void remove_stale_settings(const OptimiseOptions& options);

/// Finds session settings in which the input runs fastest, and those for what it is rewritten to. So the
/// input has the same freedom. All arguments outlive it.
class SessionTuning {
 public:
  /// How models are compared with the input.
  using Check = std::function<ChildCheck()>;

  SessionTuning(const OptimiseOptions& options, RuntimeChoice& runtime, Check check, SettingsReport& report);

  /// Settings that are chosen by trials are kept where sessions that no choice was made by confirm them.
  void tune_input();
  /// Those in which rewrites are tried: the input's, and, where these are others, those that were given.
  std::vector<exec::SessionSettings> to_try() const;
  /// From the report's settings of the output on.
  void tune_output(const std::filesystem::path& output);

 private:
  exec::SessionSettings found(const std::filesystem::path& model, const exec::SessionSettings& start);
  /// Whether the model with these settings computes what the input does.
  bool holds(const std::filesystem::path& model, const exec::SessionSettings& settings) const;

  const OptimiseOptions& options_;
  RuntimeChoice& runtime_;
  Check check_;
  exec::SessionSettings given_;  // by the user: where all start
  SettingsReport& report_;
};

}
