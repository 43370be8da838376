#include "launch/job/ppo_job.h"

#include <chrono>

#include "actors/policy_actor.h"
#include "core/base/log.h"
#include "core/env/rule_features.h"
#include "core/graph/op_kind_names.h"
#include "core/task/workload.h"
#include "launch/evaluate/runtime_meter.h"
#include "launch/job/actor_count.h"
#include "launch/job/job_setup.h"

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
  setup.model_names = task::model_names(workload.models);
  setup.network = learner::network_options().from(config);
  setup.network.action_mode = workload.environment.action_mode;
  setup.rule_features = env::make_rule_features(rules, workload.environment.action_mode);
  for (std::size_t i = 0; i < rules.size(); ++i) setup.rule_names.push_back(rules.info(i).name);
  setup.rule_set_hash = rules.hash().hex();
  setup.limits = {workload.environment.horizon, workload.environment.location_limit};
  setup.op_kind_names = graph::op_kind_names();
  return setup;
}

void run_policy_actor(const ActorPlace& place) {
  task::WorkloadOptions workload = task::workload_options_from(place.config);
  workload.make_meter = [](const task::Task& task) { return make_runtime_meter(task); };
  const nn::NetworkConfig network = job_network(place.config, task::load_rules(workload).size());
  const std::chrono::duration<double, std::milli> step(actor_options().from(place.config).simulated_step_ms);
  actors::PolicyActor actor(place.link, workload, network, place.clock,
                            std::chrono::duration_cast<std::chrono::nanoseconds>(step));
  actor.run(place.stopped);
  log_info("played {} episodes, {} policy steps", actor.episodes(), actor.policy_steps());
}

}
