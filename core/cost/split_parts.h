#pragma once

#include "core/cost/neighbourhood.h"

namespace regraft::cost {

/// Slices and Gathers of one index that together take a value apart along one axis: the runtime makes one
/// Split of them (and a Squeeze behind it for a Gather of a scalar index).
struct SplitParts {
  static constexpr std::size_t kMostParts = 16;
  InlineVector<graph::NodeId, kMostParts> parts;  // ascending; none: there is none

  bool found() const { return !parts.empty(); }
};

/// The parts of the value that a node reads, the node itself among them.
SplitParts split_around(const graph::Graph& graph, graph::NodeId node);

}
