#pragma once

#include <cstddef>

#include "core/base/config.h"
#include "core/nn/config.h"
#include "learner/job/run_folder.h"
#include "learner/ppo/ppo_phase.h"

namespace regraft::launch {

/// The policy network of a job with as many rules.
nn::NetworkConfig job_network(const Config& config, std::size_t rule_count);

/// What the phase ppo needs, from the config: loads rules, not models.
learner::PpoPhaseSetup ppo_setup(const learner::RunFolder& folder, const Config& config);

}  // namespace regraft::launch
