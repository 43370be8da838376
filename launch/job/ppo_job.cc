#include "launch/job/ppo_job.h"

#include "core/env/rule_features.h"
#include "core/graph/op_kind_names.h"
#include "core/task/workload.h"
#include "launch/job/job_config.h"

namespace regraft::launch {

nn::NetworkConfig job_network(const Config& config, std::size_t rule_count) {
  learner::NetworkOptions options = learner::network_options().from(config);
  options.action_mode = task::workload_options_from(config).environment.action_mode;
  return learner::network_config(options, graph::op_kind_names().size(), rule_count);
}

learner::PpoPhaseSetup ppo_setup(const learner::RunFolder& folder, const Config& config) {
  const task::WorkloadOptions workload = task::workload_options_from(config);
  const rules::RuleSet rules = task::load_rules(workload);
  learner::PpoPhaseSetup setup;
  setup.job = job_setup(folder, config);
  setup.ppo = learner::ppo_options().from(config);
  setup.model_names = model_names(workload.models);
  setup.network = learner::network_options().from(config);
  setup.network.action_mode = workload.environment.action_mode;
  setup.rule_features = env::make_rule_features(rules, workload.environment.action_mode);
  for (std::size_t i = 0; i < rules.size(); ++i) setup.rule_names.push_back(rules.info(i).name);
  setup.rule_set_hash = rules.hash().hex();
  setup.limits = {workload.environment.horizon, workload.environment.location_limit};
  setup.op_kind_names = graph::op_kind_names();
  return setup;
}

}  // namespace regraft::launch
