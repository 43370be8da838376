#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "core/env/observation.h"
#include "core/rules/set/rule_set.h"
#include "core/search/prior.h"

namespace regraft::launch {

/// The prior that guides a search, and the episodes that it was trained on: it wants to see what it saw then.
struct TrainedPrior {
  std::unique_ptr<search::Prior> prior{};  // null: the search has none
  env::EpisodeLimits limits{};
  env::ActionMode action_mode = env::ActionMode::one_site;
  std::optional<std::uint64_t> costed{};  // costed_in_training()
  std::string note{};                     // unseen_note()
};

/// A policy's file, or a bundle of world model and controller. Throws what
/// make_policy_prior() and load_controller_bundle() do.
TrainedPrior load_trained_prior(const std::filesystem::path& path, const rules::RuleSet& rules);

}
