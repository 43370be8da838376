#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/config.h"
#include "learner/job/run_folder.h"

namespace regraft::launch {

/// All options of a training job, of all phases.
OptionTable job_options();

/// What `--config` names: a file here, or one of the installation (find_config). Throws UsageError.
std::filesystem::path find_job_config(const std::filesystem::path& file);

/// The config of a job: defaults, then the file that `--config` names, then `--set key=value` in order.
/// Throws ConfigError, and UsageError where there is no such file.
Config load_job_config(const std::optional<std::filesystem::path>& file,
                       const std::vector<std::string>& settings);

/// The config a run was prepared with.
Config load_run_config(const learner::RunFolder& folder);

}
