#pragma once

#include <cstddef>
#include <memory>

#include "core/search/search.h"

namespace regraft::search {

/// Steepest descent that leaves its valleys by sweeps. A sweep carries one rule out wherever it matches, the
/// match of the most nodes first, and costs each graph on its way. So a change is one move that pays only
/// when all sites are rewritten (five additions split so that a concatenation vanishes). At the bottom every
/// rule's sweep is tried, and the search goes on from the cheapest graph on any of them. Where none is
/// cheaper than the bottom, a descent follows every sweep, and the search goes on from the first that ends
/// lower. Its first descent is greedy's, so it is never worse than greedy within the same limits.
struct SweepOptions {
  std::size_t most_rewrites = 200;  // of a sweep: rules that undo themselves go on for ever
};

std::unique_ptr<Search> make_sweep(SweepOptions options = {});

}  // namespace regraft::search
