#pragma once

#include "core/base/config.h"
#include "learner/job/job_runner.h"
#include "learner/job/run_folder.h"

namespace regraft::launch {

/// What the learner of any phase needs, from the config.
learner::JobSetup job_setup(const learner::RunFolder& folder, const Config& config);

}
