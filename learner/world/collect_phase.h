#pragma once

#include <memory>

#include "core/base/clock.h"
#include "learner/job/phase.h"
#include "learner/world/rollout_collection.h"

namespace regraft::learner {

/// Learns nothing: collects rollouts, and stores them when there are enough:
///   action logs -> RolloutCollection -> RUN/world/collected.rollouts
/// The clock outlives it. Throws as RolloutCollection does.
std::unique_ptr<Phase> make_collect_phase(CollectSetup setup, const Clock& clock);

}  // namespace regraft::learner
