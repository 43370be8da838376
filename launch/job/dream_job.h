#pragma once

#include "core/base/config.h"
#include "launch/job/actor_count.h"
#include "launch/job/actor_place.h"
#include "learner/controller/dream_options.h"
#include "learner/controller/dream_phase.h"
#include "learner/job/run_folder.h"

namespace regraft::launch {

using learner::kControllerKind;
using learner::kDreamKind;

/// What the learner of the phase dream needs, from the config: loads rules, not models.
learner::DreamPhaseSetup dream_setup(const learner::RunFolder& folder, const Config& config);

/// Throws UsageError where the phase dream has actors of no use: real ones, where all must dream.
void check_dream_actors(const Config& config, ActorCount actors);
/// Throws UsageError where the phase dyna lacks actors that dream or actors that play.
void check_dyna_actors(ActorCount actors);

/// An actor of the phase dream, of either kind, until its job has ended.
void run_dream_actor(const ActorPlace& place);
/// The same of the phase dyna, whose dreams branch off real episodes.
void run_dyna_actor(const ActorPlace& place);

}
