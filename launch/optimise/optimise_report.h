#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/exec/inputs/feed.h"
#include "launch/call/subprocess_checks.h"
#include "launch/optimise/measured_choice.h"
#include "launch/optimise/runtime_choice.h"
#include "launch/optimise/session_tuning.h"

namespace regraft::launch {

/// A rule that a check refused, at a rewrite's site or of the whole model, so that the search did without it.
/// Or one rewrite of it, which was left out, alone or with all behind it.
struct RefusedRule {
  std::string rule;
  std::string reason;             // names the rewrite and the value that differs
  std::string left_out = "rule";  // or "rewrite", "rest"

  std::string text() const;
};

/// The figures at one of the sizes at which a model is judged.
struct PointReport {
  exec::SymbolSizes sizes;
  double cost_before = 0, cost_after = 0;  // predicted, us
  std::optional<double> speedup, speedup_low, speedup_high, latency_before_ms, latency_after_ms;

  void note(const exec::LatencyReport& measured);
  std::string text() const;
};

/// The input's kernels, predicted by the device's rates and launched by the runtime.
struct KernelReport {
  double predicted_us = 0, measured_us = 0;  // of a run
  double agreed_share = 0;                   // of the time in kernels that both lists have
  double other_load = 0;                     // processors that other work kept busy meanwhile
};

/// What the search found, be it emitted or not.
struct FoundReport {
  std::size_t nodes = 0;
  double cost_us = 0;                // predicted
  std::map<std::string, int> rules;  // applied, by name
};

/// What `regraft optimise` did. JSON keys as in the README; they are only ever added to.
struct OptimiseReport {
  bool accepted = false;
  std::string reason;
  bool verified = false;
  double max_relative_error = 0;
  std::vector<std::string> check_notes;    // EquivalenceReport::notes
  KernelReport kernels;                    // zeros where nothing was profiled
  std::optional<double> dense_share;       // of the input's time in matrix products and convolutions, 0 to 1
  double cost_before = 0, cost_after = 0;  // predicted, us: of all graphs, each as often as it runs
  std::vector<exec::TakenSize> dims;       // dynamic ones, with the sizes taken
  std::vector<PointReport> points;         // the first counts most
  exec::SymbolSizes slower_at;  // larger sizes at which the result is predicted to be slower, if any
  std::size_t nodes_before = 0, nodes_after = 0;       // of all graphs, calls of functions opened
  std::map<std::string, int> rules;                    // applied, by name
  std::map<std::string, std::set<std::string>> marks;  // of these, and whose (rule_marks.h)
  std::optional<FoundReport> found;                    // where it was another model than the input
  std::vector<RefusedRule> refused_rules;
  MeasuredChanges changes;  // of what the search found
  std::uint64_t candidates_costed = 0;
  std::vector<std::pair<std::string, double>> seconds;  // by step, in order
  std::uint64_t peak_rss_bytes = 0;
  std::uint64_t seed = 0;
  bool out_of_time = false;            // some search would have gone on
  std::string search;                  // asked for; "script" where one was given
  std::string runtime;                 // in which models were measured
  int threads = 1;                     // of it
  SettingsReport settings;             // of its sessions
  std::string output;                  // as the result is called
  std::vector<RuntimeTimes> runtimes;  // all that were tried
  std::string found_by;                // of a search that has parts

  std::string time_holders;  // what the input's time goes into, in a sentence

  /// A profile of the input.
  void note(const ProfileSummary& profile);
  /// Seconds of all steps that share those of the call: without what choosing a runtime or its settings took.
  double spent_s() const;
  /// More seconds of a step.
  void spend(const std::string& step, double more);
  /// The output is the input, and nothing of what was found counts.
  void keep_input(const std::string& why);
  /// Why no rewrite is left.
  std::string why_nothing() const;
  std::string to_json() const;
  /// What a person reads: at most a screen.
  std::string text() const;

 private:
  const PointReport& first() const;
  FoundReport found_or_emitted() const;
  std::string found_text() const;
  std::string next_step() const;
};

}
