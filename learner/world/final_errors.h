#pragma once

#include "core/nn/model/nn_error.h"
#include "learner/job/learner_error.h"
#include "replay/rollout/replay_error.h"

namespace regraft::learner {

/// What a call does not understand of the job's episodes it understands no better next time: ReplayError and
/// NnError become LearnerError.
template <typename Call>
auto final_errors(const Call& call) {
  try {
    return call();
  } catch (const replay::ReplayError& error) {
    throw LearnerError(error.problem(), error.where(), error.remedy());
  } catch (const nn::NnError& error) {
    throw LearnerError(error.problem(), error.where(), error.remedy());
  }
}

}
