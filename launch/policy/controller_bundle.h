#pragma once

#include <filesystem>

#include "core/nn/model/world_bundle.h"
#include "core/rules/set/rule_set.h"

namespace regraft::launch {

/// Whether a policy file is a bundle of world model and controller, by its name (.world).
bool is_bundle(const std::filesystem::path& path);

/// A bundle with a controller. Throws NnError where it has none, or belongs to other rules.
nn::WorldBundle load_controller_bundle(const std::filesystem::path& path, const rules::RuleSet& rules);

/// The limits of the episodes that a world model was fitted to; the defaults where it does not say.
env::EpisodeLimits limits_of(const nn::WorldModel& world);

}
