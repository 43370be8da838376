#pragma once

#include <memory>

#include "core/search/search.h"

namespace regraft::search {

/// Runs a search with half of the limits and then steepest descent from the best graph it found, with the
/// rest: "NAME, then greedy". Never worse than the search within its half.
std::unique_ptr<Search> make_then_greedy(std::unique_ptr<Search> search);

}  // namespace regraft::search
