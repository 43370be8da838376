#pragma once

#include "core/base/config.h"
#include "core/rules/set/rule_set.h"
#include "learner/job/run_folder.h"
#include "learner/world/world_phase.h"
#include "replay/rollout/play.h"

namespace regraft::launch {

/// What a world model of this job is bound to: loads rules, not models.
learner::WorldContext world_context(const Config& config);

/// What the phases collect and world-model need; `environment_of` makes what is replayed.
learner::WorldPhaseSetup world_setup(const learner::RunFolder& folder, const Config& config,
                                     learner::EnvironmentOf environment_of);

/// How the collectors of a job play: at random, or in part by the controller of `world.policy`. Throws
/// NnError where that has none or belongs to other rules.
replay::Chooser collecting_chooser(const Config& config, const rules::RuleSet& rules);

}  // namespace regraft::launch
