#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "launch/experiment/plan.h"

namespace regraft::launch {

/// How one run of a step went.
struct RunRecord {
  std::string label;
  std::vector<std::string> arguments;
  double seconds = 0, cpu_minutes = 0;
  std::string failure;  // empty: done
  bool reused = false;  // done by an earlier call
  std::string stamp;    // of this execution: what read it is done again after another one
};

/// How a whole experiment went, with its tables.
struct ExperimentResult {
  std::vector<RunRecord> runs;
  std::vector<std::pair<std::string, Table>> tables;
  double cpu_minutes = 0, borrowed_cpu_minutes = 0;  // of all runs, earlier calls included; borrowed apart
  bool complete() const;
};

struct ExperimentOptions {
  std::filesystem::path program;  // that takes the arguments
  std::filesystem::path out;
  std::function<void(const std::string&)> report;  // a line of progress
};

/// Runs what is not done yet, one after another; a run whose command differs from the one that was done
/// before, or that reads from a run that was done again, is done again, and so is all of them where a file of
/// configs/rules, its statuses or a device is another one. A run that fails leaves its log, what
/// reads from it is not run, and the others go on. Ends early on a stop, which
/// lets the running command save. Writes OUT/TABLE.csv of what is there. Throws FileError, ProcessError.
ExperimentResult run_experiment(const ExperimentSpec& spec, const ExperimentOptions& options,
                                const std::stop_token& stopped);

}  // namespace regraft::launch
