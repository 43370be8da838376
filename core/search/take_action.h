#pragma once

#include "core/env/action.h"
#include "core/env/observation.h"
#include "core/env/rewrite_state.h"
#include "core/search/search_run.h"

namespace regraft::search {

/// Applies a rule at all of its sites, as an environment would (core/env/all_sites.h). Every rewrite
/// counts as a costed candidate. False where nothing was changed: every match was refused, the rule only led
/// back, or a limit was reached, in which case what had been done of it is undone.
bool take_all_sites(SearchRun& run, env::RewriteState& state, std::uint32_t rule);

/// Takes an action of the present observation, one rewrite or all of a rule; counts and returns alike.
bool take_action(SearchRun& run, env::RewriteState& state, const env::Observation& seen, env::Action action);

}
