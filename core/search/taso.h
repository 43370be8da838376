#pragma once

#include <cstdint>
#include <limits>
#include <memory>

#include "core/search/search.h"

namespace regraft::search {

/// TASO's search (Jia et al. 2019, section 5): a queue of graphs by cost. The
/// cheapest is taken out, and all its candidates are costed. Those that are new and cost less than alpha
/// times the best are put in. `budget` is the number of graphs taken out. When memory is full
/// (SearchTree::kMostNodes), the dearer half of the queue is forgotten.
struct TasoOptions {
  double alpha = 1.05;  // at least 1
  std::uint64_t budget = 50'000;
  std::uint64_t most_candidates = std::numeric_limits<std::uint64_t>::max();  // that it costs
};

/// Throws SearchError on options out of range.
std::unique_ptr<Search> make_taso(TasoOptions options = {});

}
