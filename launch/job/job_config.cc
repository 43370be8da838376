#include "launch/job/job_config.h"

#include <map>

#include "launch/evaluate/controller_choice_options.h"
#include "launch/job/model_based_options.h"
#include "learner/controller/dream_options.h"
#include "learner/ppo/network_options.h"
#include "learner/ppo/ppo_options.h"
#include "learner/world/world_options.h"

namespace regraft::launch {

namespace fs = std::filesystem;

const BoundOptions<ActorCount>& actor_options() {
  static const BoundOptions<ActorCount> options({
      {"actors.count", &ActorCount::real, between(0, 1024),
       "actors in real environments; processes of `regraft train` without mpirun"},
      {"actors.dream", &ActorCount::dreaming, between(0, 1024),
       "actors that dream, beside them, in the phase `dream`"},
  });
  return options;
}

OptionTable job_options() {
  std::vector<Option> options = task::workload_options();
  for (auto more :
       {learner::learner_options(), learner::network_options().options(), learner::ppo_options().options(),
        learner::world_options(), learner::dream_options(), model_based_options().options(),
        controller_choice_options().options(), actor_options().options()})
    for (Option& option : more) options.push_back(std::move(option));
  return OptionTable(std::move(options));
}

Config load_job_config(const std::optional<fs::path>& file, const std::vector<std::string>& settings) {
  Config config(job_options());
  if (file) config.merge_file(*file);
  for (const std::string& setting : settings) config.set(setting);
  return config;
}

Config load_run_config(const learner::RunFolder& folder) {
  Config config(job_options());
  config.merge_file(folder.config());
  return config;
}

std::vector<std::string> model_names(const std::vector<std::string>& models) {
  std::map<std::string, int> seen;
  std::vector<std::string> names;
  for (const std::string& model : models) {
    std::string name = model.starts_with("synthetic:") ? model : fs::path(model).stem().string();
    if (const int count = seen[name]++; count > 0) name += "-" + std::to_string(count + 1);
    names.push_back(std::move(name));
  }
  return names;
}

learner::JobSetup job_setup(const learner::RunFolder& folder, const Config& config) {
  return {
      .folder = folder, .options = learner::learner_options_from(config), .config_toml = config.to_toml()};
}

}  // namespace regraft::launch
