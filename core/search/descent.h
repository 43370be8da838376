#pragma once

#include <cstddef>
#include <optional>

#include "core/search/search_run.h"

namespace regraft::search {

/// The cheapest rewrite of the present graph (the first of equals), where it is cheaper than the graph by
/// more than rounding. Costs every candidate; ends early, with the best so far, when the run does.
std::optional<rules::Match> steepest(SearchRun& run, env::RewriteState& state);

/// Graphs of more operations are large. There a descent takes many rewrites at each expansion, since an
/// expansion costs all candidates and a pass over the graph.
inline constexpr std::size_t kLargeGraph = 4096;

/// Takes steepest() until there is none, or the run ends; each is an expansion. On a large graph each
/// expansion takes all rewrites that make it cheaper, steepest first, if they still do in their turn. True
/// where the bottom was reached.
bool descend(SearchRun& run, env::RewriteState& state);

}  // namespace regraft::search
