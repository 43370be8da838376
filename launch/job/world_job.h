#pragma once

#include "core/base/config.h"
#include "core/rules/set/rule_set.h"
#include "launch/job/actor_place.h"
#include "learner/job/run_folder.h"
#include "learner/world/collect_phase.h"
#include "learner/world/world_phase.h"
#include "replay/rollout/play.h"

namespace regraft::launch {

/// What a world model of this job is bound to: loads rules, not models.
learner::WorldContext world_context(const Config& config);

/// What the phase collect needs: loads rules, not models.
learner::CollectSetup collect_setup(const learner::RunFolder& folder, const Config& config);
/// What the phase world-model needs: the same, and environments, which are made when they are asked for; the
/// clock outlives them.
learner::WorldPhaseSetup world_setup(const learner::RunFolder& folder, const Config& config,
                                     const Clock& clock);

/// How the collectors of a job play: at random, or in part by the controller of `world.policy`. Throws
/// NnError where that has none or belongs to other rules.
replay::Chooser collecting_chooser(const Config& config, const rules::RuleSet& rules);

/// An actor that collects, until its job has ended.
void run_collector(const ActorPlace& place);

}
