#include "launch/job/job_config.h"

#include "core/base/find_config.h"
#include "core/base/named_by_config.h"
#include "core/task/workload.h"
#include "launch/evaluate/controller_choice_options.h"
#include "launch/job/model_based_options.h"
#include "launch/job/phases.h"
#include "learner/controller/dream_options.h"
#include "learner/job/learner_options.h"
#include "learner/ppo/load_test_options.h"
#include "learner/ppo/network_options.h"
#include "learner/ppo/ppo_options.h"
#include "learner/world/world_options.h"

namespace regraft::launch {

namespace fs = std::filesystem;

OptionTable job_options() {
  std::vector<Option> options = task::workload_options();
  options.push_back(phase_option());
  for (const auto& more :
       {learner::learner_options(), learner::network_options().options(), learner::ppo_options().options(),
        learner::world_options(), learner::dream_options(), model_based_options().options(),
        controller_choice_options().options(), actor_options().options(),
        learner::load_test_options().options()})
    options.insert(options.end(), more.begin(), more.end());
  return OptionTable(std::move(options));
}

fs::path find_job_config(const fs::path& file) {
  fs::path found = find_config(file);
  if (!fs::is_regular_file(found))
    throw UsageError("there is no such file, here or in the installation", file.string(),
                     "name a TOML file, or a preset: configs/cpu.toml");
  return found;
}

Config load_job_config(const std::optional<fs::path>& file, const std::vector<std::string>& settings) {
  Config config(job_options());
  if (file) config.merge_file(find_job_config(*file));
  for (const std::string& setting : settings) config.set(setting);
  return config;
}

Config load_run_config(const learner::RunFolder& folder) {
  Config config(job_options());
  config.merge_file(folder.config());
  return config;
}

}
