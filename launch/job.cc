#include "launch/job.h"

#include <map>

#include "core/base/file.h"
#include "core/env/rule_features.h"
#include "core/graph/op.h"
#include "launch/model_based.h"
#include "launch/mpi_session.h"
#include "launch/prepared_run.h"
#include "learner/controller/dream_options.h"
#include "learner/world/world_options.h"

namespace regraft::launch {

namespace fs = std::filesystem;

OptionTable job_options() {
  std::vector<Option> options = actors::workload_options();
  for (auto more : {learner::learner_options(), learner::network_options(), learner::ppo_options(),
                    learner::world_options(), learner::dream_options(), model_based_options()})
    for (Option& option : more) options.push_back(std::move(option));
  options.push_back(
      Option("actors.count", 2, "actors in real environments; processes of `regraft train` without mpirun")
          .between(0, 1024));
  options.push_back(
      Option("actors.dream", 0, "actors that dream, beside them, in the phase `dream`").between(0, 1024));
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

Config prepare_run(const learner::RunFolder& folder, Config config, bool resume) {
  const bool exists = fs::exists(folder.run_id());
  if (resume && !exists)
    throw LaunchError("there is no run to resume", folder.root.string(), "leave out --resume to start one");
  if (exists && !resume)
    throw LaunchError("the folder holds a run", folder.root.string(),
                      "go on with --resume, or choose another --run folder");
  if (exists) {
    std::vector<ConfigDifference> fixed;
    for (const ConfigDifference& difference : differences(load_run_config(folder), config))
      if (difference.fixed_on_resume) fixed.push_back(difference);
    if (!fixed.empty())
      throw LaunchError("options that are fixed for a run differ:\n" + describe(fixed), folder.root.string(),
                        "resume with the values it was started with");
  }
  make_run(folder, config);
  return config;
}

std::vector<std::string> op_kind_names() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < graph::kOpKinds; ++i)
    names.emplace_back(graph::op_info(static_cast<graph::OpKind>(i)).name);
  return names;
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

nn::NetworkConfig job_network(const Config& config, std::size_t rule_count) {
  learner::NetworkOptions options = learner::network_options_from(config);
  options.everywhere = config.flag("workload.everywhere");
  return learner::network_config(options, op_kind_names().size(), rule_count);
}

learner::LearnerSetup learner_setup(const learner::RunFolder& folder, const Config& config) {
  const actors::WorkloadOptions workload = actors::workload_options_from(config);
  const rules::RuleSet rules = actors::load_rules(workload);
  learner::LearnerSetup setup;
  setup.folder = folder;
  setup.options = learner::learner_options_from(config);
  setup.ppo = learner::ppo_options_from(config);
  setup.config_toml = config.to_toml();
  setup.model_names = model_names(workload.models);
  setup.network = learner::network_options_from(config);
  setup.network.everywhere = workload.environment.everywhere;
  setup.rule_features = env::make_rule_features(rules, workload.environment.everywhere);
  for (std::size_t i = 0; i < rules.size(); ++i) setup.rule_names.push_back(rules.info(i).name);
  setup.rule_set_hash = rules.hash().hex();
  setup.limits = {workload.environment.horizon, workload.environment.location_limit};
  setup.op_kind_names = op_kind_names();
  return setup;
}

}  // namespace regraft::launch
