#pragma once

#include "core/nn/model/world_bundle.h"
#include "replay/rollout/play.h"

namespace regraft::replay {

/// What a bundle's controller draws along a real episode: rollouts of the current policy, where the next
/// world model must be right. This share of the episodes; the others are played by `other`. Copies share
/// their state: for one environment at a time.
Chooser controller_chooser(const nn::WorldBundle& bundle, double share, Chooser other);

}
