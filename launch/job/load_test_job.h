#pragma once

#include "core/base/config.h"
#include "launch/job/actor_place.h"
#include "learner/job/run_folder.h"
#include "learner/ppo/load_test_phase.h"

namespace regraft::launch {

/// What the phase load-test needs, from the config: loads rules, not models. Throws UsageError where a file
/// that it names is not there or is none of its kind.
learner::LoadTestSetup load_test_setup(const learner::RunFolder& folder, const Config& config);

/// An actor that plays as those of the phase ppo do, or sends over `load_test.connections` connections what
/// was recorded, until its job has ended.
void run_load_test_actor(const ActorPlace& place);

}
