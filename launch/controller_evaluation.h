#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "actors/workload.h"
#include "core/base/config.h"
#include "core/nn/world_bundle.h"
#include "core/rules/set/rule_set.h"
#include "core/search/prior.h"
#include "replay/dream_validity.h"

namespace regraft::launch {

/// Whether a policy file is a bundle of world model and controller, by its name (.world).
bool is_bundle(const std::filesystem::path& path);

/// A bundle with a controller. Throws NnError where it has none, or belongs to other rules.
nn::WorldBundle load_controller_bundle(const std::filesystem::path& path, const rules::RuleSet& rules);

/// Of the episodes that a world model was fitted to; the defaults where it does not say.
env::EpisodeLimits limits_of(const nn::WorldModel& world);

/// Dreams of a bundle's controller, taken for real in what they are dreams of: episodes as long, as many
/// locations, the same rewards, all else as `workload` and the options `dream.*` of `config` say.
replay::DreamValidity validity_of(const nn::WorldBundle& bundle, const actors::Task& task,
                                  actors::WorkloadOptions workload, const Config& config, int trajectories,
                                  std::uint64_t seed);

nlohmann::json to_json(const replay::DreamValidity& validity);

/// A controller as the prior of a search. What the recurrent model remembers follows the way on which a graph
/// was first reached. Candidates that the world model never saw share what its least likely action has.
class ControllerPrior : public search::Prior {
 public:
  /// Throws as load_controller_bundle() does.
  ControllerPrior(const std::filesystem::path& path, const rules::RuleSet& rules);
  ~ControllerPrior() override;
  std::vector<float> log_probabilities(const env::Observation& observation, search::Way& way) override;
  std::string name() const override { return "controller"; }
  /// Of the episodes that the world model was fitted to.
  env::EpisodeLimits limits() const;
  /// Whether it chooses among rules at all of their sites, too.
  env::ActionMode action_mode() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace regraft::launch
