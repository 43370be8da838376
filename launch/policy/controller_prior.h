#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/rules/set/rule_set.h"
#include "core/search/prior.h"

namespace regraft::launch {

/// A controller as the prior of a search. What the recurrent model remembers follows the way on which a graph
/// was first reached. Candidates that the world model never saw share what its least likely action has.
class ControllerPrior : public search::Prior {
 public:
  /// Throws as load_controller_bundle() does (controller_bundle.h).
  ControllerPrior(const std::filesystem::path& path, const rules::RuleSet& rules);
  ~ControllerPrior() override;
  std::vector<float> log_probabilities(const env::Observation& observation,
                                       search::History& history) override;
  std::string name() const override { return "controller"; }
  /// The limits of the episodes that the world model was fitted to.
  env::EpisodeLimits limits() const;
  /// Whether it chooses among rules at all of their sites, too.
  env::ActionMode action_mode() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace regraft::launch
