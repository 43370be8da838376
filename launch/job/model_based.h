#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/config.h"
#include "launch/job/process_group.h"
#include "learner/job/run_folder.h"

namespace regraft::launch {

// The phase `model-based`: rounds of the phases `world-model` and `dream`, each a run of its own below the
// job's folder. Then a controller of the last round is chosen (controller_choice.h) and evaluated:
//   round-1/fit -> round-1/dream -> round-2/fit (more steps, in part by the last controller) -> ... ->
//   choice -> evaluation

/// One run of the job.
struct ModelBasedStep {
  std::string name;  // of its folder, in the job's: "round-1/fit"
  learner::RunFolder folder;
  Config config;  // the job's, but for phase, steps to collect, actors and the files of earlier steps
  bool dreams = false;

  /// Whether it came to its end: a step that was stopped has not.
  bool done() const;
};

/// All steps in their order; so many actors take part in each. Throws ConfigError or UsageError where the
/// options make no sense together.
std::vector<ModelBasedStep> model_based_steps(const learner::RunFolder& job, const Config& config,
                                              std::int64_t actors);

/// Runs what is not done yet, and leaves RUN/policies/latest.world, RUN/choice.json, RUN/evaluation.json and
/// RUN/summary.json.
/// Where a signal stops it, what is done stays so, and a resumed job goes on. An exit code.
int run_model_based(const learner::RunFolder& job, Config config, bool resume, ProcessGroup& group);

}
