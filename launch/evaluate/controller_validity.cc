#include "launch/evaluate/controller_validity.h"

#include <nlohmann/json.hpp>

#include "core/base/clock.h"
#include "launch/policy/controller_bundle.h"
#include "learner/controller/dream_options.h"

namespace regraft::launch {

replay::DreamValidity validity_of(const nn::WorldBundle& bundle, const task::Task& task,
                                  task::WorkloadOptions workload, const Config& config, int trajectories,
                                  std::uint64_t seed) {
  const env::EpisodeLimits limits = limits_of(bundle.world);
  workload.environment.horizon = limits.horizon;
  workload.environment.location_limit = limits.location_limit;
  workload.environment.reward = enum_from<env::RewardKind>(bundle.world.reward_kind, "world model");
  workload.environment.action_mode = bundle.world.action_mode;
  const SystemClock clock;
  env::Environment environment = task::make_environment(task, workload, clock);
  return replay::measure_validity(bundle, learner::dream_of(learner::dream_options_from(config)), environment,
                                  trajectories, seed);
}

nlohmann::json to_json(const replay::DreamValidity& validity) {
  return {{"predicted", validity.predicted},
          {"real", validity.real},
          {"rank_correlation", validity.rank_correlation},
          {"mean_error", validity.mean_error},
          {"illegal_share", validity.illegal_share}};
}

}
