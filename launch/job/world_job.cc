#include "launch/job/world_job.h"

#include <memory>

#include "actors/collector.h"
#include "core/base/log.h"
#include "core/base/named_by_config.h"
#include "core/graph/op_kind_names.h"
#include "core/nn/model/world_bundle.h"
#include "core/task/environment_pool.h"
#include "core/task/workload.h"
#include "launch/job/job_setup.h"
#include "launch/policy/controller_bundle.h"
#include "replay/dream/controller_chooser.h"

namespace regraft::launch {

learner::WorldContext world_context(const Config& config) {
  const task::WorkloadOptions workload = task::workload_options_from(config);
  learner::WorldContext context;
  context.rule_set_hash = task::load_rules(workload).hash().hex();
  context.op_kinds = graph::op_kind_names();
  context.model_names = task::model_names(workload.models);
  context.horizon = workload.environment.horizon;
  context.location_limit = workload.environment.location_limit;
  context.action_mode = workload.environment.action_mode;
  context.bind = task::binding_texts(workload.bind);
  context.reward_kind = enum_name(workload.environment.reward);
  return context;
}

learner::CollectSetup collect_setup(const learner::RunFolder& folder, const Config& config) {
  learner::CollectSetup setup{.job = job_setup(folder, config),
                              .world = learner::world_options_from(config),
                              .context = world_context(config),
                              .models = task::workload_options_from(config).models};
  if (setup.job.options.deterministic && setup.job.options.minutes > 0)
    throw UsageError("what the clock ends is not deterministic", "train.minutes",
                     "leave it out, or train.deterministic");
  return setup;
}

learner::WorldPhaseSetup world_setup(const learner::RunFolder& folder, const Config& config,
                                     const Clock& clock) {
  return {collect_setup(folder, config),
          [pool = std::make_shared<task::EnvironmentPool>(task::workload_options_from(config), clock)](
              std::uint32_t model) -> env::Environment& { return pool->environment(model); }};
}

replay::Chooser collecting_chooser(const Config& config, const rules::RuleSet& rules) {
  const learner::WorldOptions world = learner::world_options_from(config);
  replay::Chooser random = replay::random_chooser(world.noop, world.random_choices);
  if (world.policy.empty()) return random;
  const nn::WorldBundle bundle = named_by_config([&] { return load_controller_bundle(world.policy, rules); });
  const std::string mode(enum_name(bundle.world.action_mode));
  if (mode != config.text("workload.action_mode"))
    throw UsageError("the controller learned with actions of the mode " + mode, world.policy,
                     "use workload.action_mode=" + mode);
  return replay::controller_chooser(bundle, world.on_policy, std::move(random));
}

void run_collector(const ActorPlace& place) {
  task::WorkloadOptions workload = task::workload_options_from(place.config);
  replay::Chooser choose = collecting_chooser(place.config, task::load_rules(workload));
  actors::Collector collector(place.link, std::move(workload), std::move(choose), place.clock);
  collector.run(place.stopped);
  log_info("played {} episodes, {} steps", collector.episodes(), collector.steps());
}

}
