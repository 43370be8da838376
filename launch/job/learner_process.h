#pragma once

#include "learner/job/run_folder.h"

namespace regraft::launch {

/// The learner's worker process of a prepared run, whatever its phase, to its end: an exit code. SIGTERM and
/// SIGINT ask it to save and stop, SIGUSR1 to save.
int run_learner_process(const learner::RunFolder& folder);

}  // namespace regraft::launch
