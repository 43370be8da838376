#pragma once

#include <cstdint>
#include <functional>

#include "core/base/rng.h"
#include "core/env/environment.h"
#include "replay/rollout.h"

namespace regraft::replay {

/// What a collector does in a state.
using Chooser = std::function<env::Action(const env::Observation&, Rng&)>;

/// NO-OP with this probability, else uniform over the legal xfers, then over the locations of the one drawn;
/// NO-OP where nothing else is legal.
env::Action draw_random_action(const env::Observation& observation, double noop, Rng& rng);
Chooser random_chooser(double noop);

/// One episode. All randomness comes from `seed`.
Rollout play_rollout(env::Environment& environment, std::uint32_t model, std::uint64_t seed,
                     std::uint64_t sequence, const Chooser& choose);

}  // namespace regraft::replay
