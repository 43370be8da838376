#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "launch/experiment/spec.h"

namespace regraft::launch {

/// One run of one step: what its command is and where its files go.
struct PlannedRun {
  std::size_t step = 0;                                     // in the spec
  std::vector<std::pair<std::string, std::string>> values;  // of `over`, in its order
  std::filesystem::path folder;  // OUT/runs/STEP/KEY=VALUE,..., or of a shared step OUT/../shared/STEP-HASH
  std::vector<std::string> arguments;                   // of the program, placeholders replaced
  std::vector<std::size_t> inputs;                      // earlier runs whose folders the arguments name
  std::string label(const ExperimentSpec& spec) const;  // "train model=nasrnn seed=1"
};

/// Every run of an experiment, in an order in which each comes after those that it reads from: the steps as
/// written, the first key of the matrix varying slowest. Throws ExperimentError on a placeholder that means
/// nothing there.
std::vector<PlannedRun> plan_runs(const ExperimentSpec& spec, const std::filesystem::path& out);

}  // namespace regraft::launch
