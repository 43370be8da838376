#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/bound_options.h"
#include "core/task/workload.h"
#include "learner/job/job_runner.h"
#include "learner/job/run_folder.h"

namespace regraft::launch {

/// Actors that a job would have: the options `actors.*`.
struct ActorCount {
  std::int64_t real = 2, dreaming = 0;
  std::int64_t all() const { return real + dreaming; }
};
const BoundOptions<ActorCount>& actor_options();

/// All options of a training job, of all phases.
OptionTable job_options();

/// The config of a job: defaults, then the file, then `--set key=value` in order. Throws ConfigError.
Config load_job_config(const std::optional<std::filesystem::path>& file,
                       const std::vector<std::string>& settings);

/// The config a run was prepared with.
Config load_run_config(const learner::RunFolder& folder);

/// What the learner of any phase needs, from the config.
learner::JobSetup job_setup(const learner::RunFolder& folder, const Config& config);

/// Names for people, unique, from the models of a workload: file stems.
std::vector<std::string> model_names(const std::vector<std::string>& models);

}  // namespace regraft::launch
