#pragma once

#include <cstddef>
#include <cstdint>

#include "core/search/gains.h"
#include "core/search/search_run.h"

namespace regraft::search {

/// Graphs of more operations are large. There a descent takes many rewrites at each expansion, since an
/// expansion costs all candidates and a pass over the graph.
inline constexpr std::size_t kLargeGraph = 4096;

/// Where a descent may end.
enum class LocalMinimum : std::uint8_t {
  certain,  // no rewrite makes the graph cheaper: all were costed there
  known     // none that is known: for a look at where a rewrite leads
};

/// Steepest descent: takes the rewrite that makes the graph cheapest (the first of equals) until none makes
/// it cheaper by more than rounding, or the run ends; each is an expansion. On a large graph each expansion
/// takes all rewrites that make it cheaper, steepest first, if they still do in their turn. False where the
/// limits did not allow another expansion.
///
/// The steepest is that by the gains, which are of the present graph before, and after it as well. What they
/// do not know is costed, and so is what is taken.
bool descend(SearchRun& run, env::RewriteState& state, Gains& gains,
             LocalMinimum minimum = LocalMinimum::certain);
bool descend(SearchRun& run, env::RewriteState& state);

}
