#pragma once

#include <string>
#include <vector>

#include "core/base/config.h"
#include "learner/job/job_runner.h"
#include "learner/job/run_folder.h"

namespace regraft::launch {

/// What the learner of any phase needs, from the config.
learner::JobSetup job_setup(const learner::RunFolder& folder, const Config& config);

/// Names for people, unique, from the models of a workload: file stems.
std::vector<std::string> model_names(const std::vector<std::string>& models);

}  // namespace regraft::launch
