#pragma once

#include <memory>

#include "learner/controller/dream_options.h"
#include "learner/controller/dream_trainer.h"
#include "learner/job/learner_options.h"
#include "learner/job/update_sharing.h"
#include "learner/ppo/ppo_options.h"

namespace regraft::learner {

/// PPO in two half-steps, from dreamed and real episodes. In deterministic mode an update takes as many
/// tickets as hold `episodes_per_update` dreams, and what comes out depends on the seed alone as long as all
/// of them are dreamed. `join`: as UpdateSharing's. Throws UsageError on options out of range.
std::unique_ptr<DreamTrainer> make_ppo_trainer(const nn::ControllerFile& file, const PpoOptions& ppo,
                                               const DreamPhaseOptions& dream, const LearnerOptions& options,
                                               JoinLearners join);
/// The work of a further learner that shares the updates of such a trainer.
void follow_ppo_trainer(const nn::ControllerFile& file, const PpoOptions& ppo, const LearnerOptions& options,
                        const JoinLearners& join);

}
