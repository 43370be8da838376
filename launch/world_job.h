#pragma once

#include "core/base/config.h"
#include "learner/run_folder.h"
#include "learner/world_phase.h"

namespace regraft::launch {

/// What a world model of this job is bound to: loads rules, not models.
learner::WorldContext world_context(const Config& config);

/// What the phases collect and world-model need; `environment_of` makes what is replayed.
learner::WorldPhaseSetup world_setup(const learner::RunFolder& folder, const Config& config,
                                     learner::EnvironmentOf environment_of);

}  // namespace regraft::launch
