#pragma once

#include <memory>
#include <optional>

#include "learner/controller/dream_options.h"
#include "learner/job/job_runner.h"
#include "learner/job/phase.h"
#include "learner/ppo/ppo_options.h"
#include "learner/world/world_context.h"

namespace regraft::learner {

/// What the phases `dream` and `dyna` need to know of the job.
struct DreamPhaseSetup {
  JobSetup job;
  PpoOptions ppo;
  DreamPhaseOptions dream;
  std::optional<DynaOptions> dyna;  // the phase `dyna`
  WorldContext context;             // the world model must belong to it
};

/// Throws UsageError where options of the phases `dream` and `dyna` do not go together.
void check_dream_options(const LearnerOptions& options, const DreamPhaseOptions& dream, bool dyna);

/// A controller that learns in a world model:
///   dreamed and real episodes -> DreamTrainer -> bundle {world, controller, work}
/// Trained by PPO, episodes come from dream actors and from actors in real environments, in any mixture, or
/// as Dyna says; a linear controller is evolved in dreams alone. A bundle is exported as a policy, the work
/// left out. Throws UsageError, and NnError: no world model, or one of another job.
std::unique_ptr<Phase> make_dream_phase(DreamPhaseSetup setup);
/// The work of a further learner that shares the updates, until the job has come to its end.
void follow_dream_phase(const DreamPhaseSetup& setup);

}
