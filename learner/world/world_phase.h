#pragma once

#include <memory>

#include "core/base/clock.h"
#include "learner/job/phase.h"
#include "learner/world/collect_phase.h"
#include "learner/world/world_data.h"

namespace regraft::learner {

/// What the phase `world-model` needs to know of the job.
struct WorldPhaseSetup {
  CollectSetup collect;
  EnvironmentOf environment_of;  // for replaying what was collected
};

/// Collects and fits a world model:
///   action logs -> CollectPhase, until there are enough steps; its replay -> WorldFit -> RUN/world
/// The replay, and the fit between any two updates, are in the checkpoints; in lock step the fit ends in the
/// same bits for any number of actors, interrupted or not. With train.minutes, half of them are for
/// collecting at most, and the fit ends in time (WorldFit::advance). Once done it writes
/// RUN/world/{model.world, collected.rollouts, *.csv}. What does not fit the job is a LearnerError. The clock
/// outlives it.
std::unique_ptr<Phase> make_world_phase(WorldPhaseSetup setup, const Clock& clock);
/// The work of a further learner that shares the updates of the fit, until the job has come to its end. It
/// replays the episodes that the first one collected.
void follow_world_phase(const WorldPhaseSetup& setup);

}
