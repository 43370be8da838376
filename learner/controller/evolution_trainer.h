#pragma once

#include <cstdint>
#include <memory>

#include "learner/controller/dream_options.h"
#include "learner/controller/dream_trainer.h"
#include "learner/job/learner_options.h"

namespace regraft::learner {

/// Separable CMA-ES on the query of a linear controller. Every individual of a generation dreams the same
/// episodes of every model; its loss is the mean of their returns, negative. As tickets are taken in whole
/// generations, what comes out depends on the seed alone, however many actors there are and die.
std::unique_ptr<DreamTrainer> make_evolution_trainer(const nn::ControllerFile& file,
                                                     const DreamPhaseOptions& dream,
                                                     const LearnerOptions& options, std::uint32_t models);

}
