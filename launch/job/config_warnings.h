#pragma once

#include <string>
#include <vector>

#include "core/base/config.h"

namespace regraft::launch {

/// What a job's config brings about that who wrote it may not expect.
struct ConfigWarnings {
  std::vector<std::string> warnings, remarks;
};
ConfigWarnings config_warnings(const Config& config);

/// Into the log of the job's learner.
void log_config_warnings(const Config& config);

}
