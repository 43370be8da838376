#pragma once

#include <cstdint>

#include "core/base/bound_options.h"

namespace regraft::launch {

/// The phase `model-based`, beside those that it is made of.
struct ModelBasedOptions {
  std::int64_t rounds = 2;
  std::int64_t further_steps = 3000;      // of each round after the first
  int episodes = 20, trajectories = 200;  // of the evaluation
};

/// The options `model_based.*`, but for those of ControllerChoiceOptions.
const BoundOptions<ModelBasedOptions>& model_based_options();

}
