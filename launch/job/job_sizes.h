#pragma once

#include "core/base/config.h"
#include "learner/job/run_folder.h"

namespace regraft::launch {

/// Completes workload.bind by the sizes at which the models run (find_sizes).
void bind_sizes(Config& config);

/// The sizes that a run was started with, where what is bound now is among them.
void bind_sizes_of(const learner::RunFolder& run, Config& config);

}
