#pragma once

#include <string>

#include "core/wire/hub.h"
#include "learner/job/learner_options.h"
#include "learner/job/run_folder.h"

namespace regraft::learner {

/// Of the folder. Throws FileError.
std::string run_id_of(const RunFolder& folder);

/// How a learner of this run listens; makes the server's keys where there are none.
wire::HubOptions hub_options(const RunFolder& folder, const LearnerOptions& options,
                             const std::string& run_id);

}  // namespace regraft::learner
