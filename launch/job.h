#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "actors/workload.h"
#include "core/base/config.h"
#include "learner/job/run_folder.h"
#include "learner/ppo/learner.h"

namespace regraft::launch {

/// All options of a training job: `workload.*`, `train.*`, `network.*`, `ppo.*`, `wire.*`, `actors.*`.
OptionTable job_options();

/// The config of a job: defaults, then the file, then `--set key=value` in order. Throws ConfigError.
Config load_job_config(const std::optional<std::filesystem::path>& file,
                       const std::vector<std::string>& settings);

/// Prepares a run folder: a new one gets config, run id and keys; an existing one is taken only with
/// `resume`, and then a fixed option that differs from the one it was started with is refused with the
/// difference. Returns the config in force.
Config prepare_run(const learner::RunFolder& folder, Config config, bool resume);

/// The config a run was prepared with.
Config load_run_config(const learner::RunFolder& folder);

/// The policy network of a job with as many rules.
nn::NetworkConfig job_network(const Config& config, std::size_t rule_count);

/// What the learner needs, from the config: loads rules, not models.
learner::LearnerSetup learner_setup(const learner::RunFolder& folder, const Config& config);

/// Names of the op table, in order: rows of a policy's embedding.
std::vector<std::string> op_kind_names();

/// Names for people, unique, from the models of a workload: file stems.
std::vector<std::string> model_names(const std::vector<std::string>& models);

}  // namespace regraft::launch
