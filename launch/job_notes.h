#pragma once

#include <string>
#include <vector>

#include "core/base/config.h"

namespace regraft::launch {

/// What a job's config brings about that who wrote it may not expect.
struct JobNotes {
  std::vector<std::string> warnings, remarks;
};
JobNotes notes_on(const Config& config);

/// Into the log of the job's learner.
void log_notes(const Config& config);

}  // namespace regraft::launch
