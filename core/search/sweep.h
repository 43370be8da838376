#pragma once

#include <cstddef>
#include <memory>

#include "core/search/search.h"

namespace regraft::search {

/// Steepest descent that leaves its valleys by sweeps. A sweep carries one rule out wherever it matches, the
/// match of the most nodes first, and each graph on its way is costed: what pays only when all sites are
/// rewritten (five additions split so that a concatenation vanishes, groups of a convolution merged to the
/// width of the device) is one move. At the bottom every rule's sweep is tried, and the cheapest graph on any
/// of them is gone on from; where none is cheaper than the bottom, every sweep is followed by a descent, and
/// the first that ends lower is gone on from. Its first descent is greedy's, so it is never worse than greedy
/// within the same limits.
struct SweepOptions {
  std::size_t most_rewrites = 200;  // of a sweep: rules that undo themselves go on for ever
};

std::unique_ptr<Search> make_sweep(SweepOptions options = {});

}  // namespace regraft::search
