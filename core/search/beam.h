#pragma once

#include <cstdint>
#include <memory>

#include "core/search/search.h"

namespace regraft::search {

/// Beam search (Lowerre 1976): all candidates of the `width` graphs of a level are costed. The cheapest
/// `width` new graphs are the next level, dearer than their parents or not. It ends where a level has no new
/// graph, or after `patience` levels without a new best one.
struct BeamOptions {
  std::uint32_t width = 8;      // at least 1
  std::uint32_t patience = 20;  // at least 1
};

/// Throws SearchError on options out of range.
std::unique_ptr<Search> make_beam(BeamOptions options = {});

}
