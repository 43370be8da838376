#pragma once

#include <cstddef>

#include "core/search/gains.h"
#include "core/search/search_run.h"

namespace regraft::search {

/// Graphs of more operations are large. There a descent takes many rewrites at each expansion, since an
/// expansion costs all candidates and a pass over the graph.
inline constexpr std::size_t kLargeGraph = 4096;

/// Steepest descent: takes the rewrite that makes the graph cheapest (the first of equals) until none makes
/// it cheaper by more than rounding, or the run ends; each is an expansion. On a large graph each expansion
/// takes all rewrites that make it cheaper, steepest first, if they still do in their turn. True where the
/// bottom was reached.
///
/// It costs the candidates whose gains are not known, and again the one that it takes. Where no known gain is
/// left it costs all once more, so that the bottom is one. `gains` are of the present graph before, and after
/// it as well.
bool descend(SearchRun& run, env::RewriteState& state, Gains& gains);
bool descend(SearchRun& run, env::RewriteState& state);
/// The same, but it ends where no known gain is left: for a look at where a rewrite leads.
bool descend_by_known(SearchRun& run, env::RewriteState& state, Gains& gains);

}  // namespace regraft::search
