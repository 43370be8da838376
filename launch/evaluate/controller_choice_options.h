#pragma once

#include <cstdint>

#include "core/base/bound_options.h"

namespace regraft::launch {

/// Which controllers of a dream are checked, how, and when their dreams are trusted.
struct ControllerChoiceOptions {
  std::int64_t check_every = 5;  // updates; 0: the last controller is kept
  int dreams_per_check = 64;
  double trust = 0.02;
};

/// The options `model_based.check_every`, `model_based.dreams_per_check` and `model_based.trust`.
const BoundOptions<ControllerChoiceOptions>& controller_choice_options();

}
