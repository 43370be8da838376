#pragma once

#include <cstdint>
#include <optional>

#include "core/nn/model/policy_file.h"
#include "core/nn/model/world_bundle.h"

namespace regraft::launch {

/// Candidates costed in a policy's training. Of older policies, whose record counts steps alone: one a step,
/// and nothing where a step may be a rule at all of its sites.
std::optional<std::uint64_t> costed_in_training(const nn::PolicyFile& policy);
/// Candidates costed for a world model's rollouts and fit, one for each real step of its controller, and
/// those that checked it (evaluate/controller_choice.h). Dreams cost none.
std::optional<std::uint64_t> costed_in_training(const nn::WorldBundle& bundle);

}
