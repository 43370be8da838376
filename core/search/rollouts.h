#pragma once

#include <cstdint>
#include <memory>

#include "core/env/observation.h"
#include "core/graph/tables.h"
#include "core/search/prior.h"
#include "core/search/search.h"

namespace regraft::search {

/// How a search sees states through observations; a policy wants them as in its training.
struct ObservationOptions {
  std::uint32_t horizon = env::EpisodeLimits::kDefaultHorizon;
  std::uint32_t location_limit = env::EpisodeLimits::kDefaultLocationLimit;
  graph::Bindings bindings = {};
  env::ActionMode action_mode = env::ActionMode::one_site;
};

/// Best of several rollouts of a prior from the start graph, the best graph on the way counting. Each state
/// whose prior is asked for is one expansion, each rewrite one costed candidate; a rule at all of its sites
/// is as many of them as it takes, and one step of the horizon.
struct RolloutOptions {
  ObservationOptions observation = {};
  bool greedy_first = true;    // the first rollout takes the most probable candidate everywhere
  std::uint64_t rollouts = 0;  // with the greedy one; 0: until a limit is reached
};

/// "rollouts:<prior's name>". The prior outlives the search.
std::unique_ptr<Search> make_rollouts(Prior& prior, RolloutOptions options = {});
/// Rollouts of a uniform prior of its own, none greedy: the random baseline, called "random".
std::unique_ptr<Search> make_random_rollouts(RolloutOptions options = {}, double noop_probability = 0.2);

}
