#pragma once

#include <optional>

#include "core/search/search_run.h"

namespace regraft::search {

/// The cheapest rewrite of the present graph (the first of equals), where it is cheaper than the graph by
/// more than rounding. Costs every candidate; ends early, with the best so far, when the run does.
std::optional<rules::Match> steepest(SearchRun& run, env::RewriteState& state);

/// Takes steepest() until there is none, or the run ends: an expansion each. True where the bottom was
/// reached.
bool descend(SearchRun& run, env::RewriteState& state);

}  // namespace regraft::search
