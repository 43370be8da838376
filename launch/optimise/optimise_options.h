#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/cost/kernel_database.h"
#include "launch/call/feed_options.h"
#include "launch/call/runtimes.h"
#include "launch/optimise/time_budget.h"

namespace regraft::launch {

struct OptimiseOptions {
  std::filesystem::path input, output;
  std::optional<std::filesystem::path> policy, json, log;
  std::optional<std::filesystem::path> page;    // HTML
  std::optional<std::filesystem::path> script;  // its rewrites are made, and nothing is searched
  std::filesystem::path rules = "configs/rules";
  std::filesystem::path device;                                      // empty: one of the runtime's kind
  std::filesystem::path database = cost::default_kernel_database();  // of measured kernels
  std::vector<std::string> domains;  // of a runtime's own ops that rules may make; output is portable without
  std::string search = "portfolio";  // none, or a name of searches.h
  std::uint64_t expansions = 0;      // 0: no limit
  std::size_t search_threads = 0;    // 0: one a processor that the process may run on
  std::string accept = "measured";
  std::string runtime = Runtime::kDefault;  // names or adapters' paths (runtimes.h), with commas; or auto
  std::string costs;      // alone: measured, but each operation for itself; measured: the device's rates,
                          // corrected by measured kernels; device: the rates alone; empty: measured where
                          // results are measured, in a runtime whose kernels can be
  int threads = 1;        // of the runtime, or exec::kThreadsOfRuntime
  bool settings = false;  // search for session settings, too, and write session_file()
  bool fewer_threads = false;  // are tried with it; so where threads is kThreadsOfRuntime
  FeedOptions feed;
  std::vector<std::string> fixed;  // n=1: the result is for these sizes of dims alone
  std::uint64_t seed = 0;
  TimeBudget time;        // trials 0: all rewrites that are found are kept
  double least_gain = 1;  // percent that a result must be measured faster by
  bool strict = false;    // without rules that ask something of the model's numbers (rule_marks.h)
  bool quiet = false;

  /// Throws UsageError for options that exclude each other.
  void check() const;

  /// Whether the model is only imported and exported.
  bool re_exports() const { return search == "none" && !script; }

  /// Where --settings writes those of the result.
  std::filesystem::path session_file() const { return output.string() + ".session.json"; }

  /// Once `runtime` names one.
  bool measures_kernels() const {
    return costs.empty() ? accept == "measured" && is_profiled(runtime) : costs != "device";
  }
  /// The runtime whose kernels are measured: ONNX Runtime for those whose own cannot be.
  Runtime profiled_runtime() const { return is_profiled(runtime) ? Runtime(runtime) : Runtime(); }
  /// What a run takes in the runtime, by a profile; 0 where that is another runtime's.
  double run_us(double profiled_us) const { return is_profiled(runtime) ? profiled_us : 0; }

  /// The file of the rates that costs go by, and what they make of them.
  std::filesystem::path rates() const {
    return rates_for(measures_kernels() ? profiled_runtime().name() : runtime, device);
  }
  cost::DeviceProfile device_profile() const;
  /// Where costs go by what another version of the runtime fuses; so much of the time agrees, 0 to 1.
  void warn_of_fusions(double agreed_share) const;

  /// A line about the model on standard error.
  void warn(const std::string& line) const {
    std::fprintf(stderr, "regraft: %s: %s\n", input.filename().c_str(), line.c_str());
  }
  /// The same, but not when quiet.
  void say(const std::string& line) const {
    if (!quiet) warn(line);
  }
};

}
