#pragma once

#include <memory>

#include "core/search/search.h"

namespace regraft::search {

/// Steepest descent: costs every candidate, takes the cheapest (the first of equals) and stops where none is
/// cheaper than the present graph. A rewrite must save at least `least_gain` of the present cost, so that
/// rounding never counts as one.
struct GreedyOptions {
  double least_gain = 1e-9;
};

std::unique_ptr<Search> make_greedy(GreedyOptions options = {});

}  // namespace regraft::search
