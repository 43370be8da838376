#pragma once

#include <cstddef>

#include "core/base/config.h"
#include "core/nn/model/config.h"
#include "launch/job/actor_place.h"
#include "learner/job/run_folder.h"
#include "learner/ppo/ppo_phase.h"

namespace regraft::launch {

/// The policy network of a job with as many rules.
nn::NetworkConfig job_network(const Config& config, std::size_t rule_count);

/// What the phase ppo needs, from the config: loads rules, not models.
learner::PpoPhaseSetup ppo_setup(const learner::RunFolder& folder, const Config& config);

/// An actor that plays real episodes by the policy, until its job has ended. A step takes
/// `actors.simulated_step_ms` at least.
void run_policy_actor(const ActorPlace& place);

}
