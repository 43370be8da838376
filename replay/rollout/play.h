#pragma once

#include <cstdint>
#include <functional>

#include "core/base/rng.h"
#include "core/env/environment.h"
#include "replay/rollout/rollout.h"

namespace regraft::replay {

/// What a collector does in the environment's state: it may look ahead, but leaves it as it is.
using Chooser = std::function<env::Action(env::Environment&, Rng&)>;

/// NO-OP with this probability, or where nothing else is legal. Else uniform over the legal rules, then over
/// the locations of the drawn one; the location for all sites has half of the probability.
env::Action draw_random_action(const env::Observation& observation, double noop, Rng& rng);
/// The cheapest of several such draws, by the cost right after each; how many, each episode draws from 1, 2,
/// 4, ... up to `choices`. With 1 plainly random. What is seen then ranges from ruined graphs to good ones:
/// by chance alone rollouts of many steps see ruined ones only.
Chooser random_chooser(double noop, std::uint32_t choices = 1);

/// One episode. All randomness comes from `seed`.
Rollout play_rollout(env::Environment& environment, std::uint32_t model, std::uint64_t seed,
                     std::uint64_t sequence, const Chooser& choose);

}
