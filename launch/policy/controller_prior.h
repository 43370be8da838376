#pragma once

#include <memory>

#include "core/nn/model/world_bundle.h"
#include "core/search/prior.h"

namespace regraft::launch {

/// "controller": that of a bundle (controller_bundle.h) as the prior of a search. What the recurrent model
/// remembers follows the way on which a graph was first reached. Candidates that the world model never saw
/// share what its least likely action has.
std::unique_ptr<search::Prior> make_controller_prior(nn::WorldBundle bundle);

}
