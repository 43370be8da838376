#pragma once

#include <cstdint>
#include <memory>

#include "core/search/search.h"

namespace regraft::search {

/// Greedy with random restarts: steepest descent from the start, then, until a limit is reached, from the end
/// of short random walks from the start; the best graph of all. A walk draws its length, then each rewrite
/// uniformly among the rules that match and among that rule's matches, as the random collector does. Its
/// first descent is greedy's, so it is never worse than greedy within the same limits. Each rewrite of a walk
/// is an expansion and one costed candidate. A walk that ends where a descent began or led through before, as
/// one does whose first rewrite is refused, is not descended from; so many of them in a row end the search.
struct RestartOptions {
  std::uint32_t most_steps = 8;         // of a walk; at least 1
  std::uint32_t most_known_ends = 100;  // in a row; at least 1
};

/// "restarts". Throws SearchError for walks of no steps, or none.
std::unique_ptr<Search> make_restarts(RestartOptions options = {});

}
