#pragma once

#include "core/cost/neighbourhood.h"

namespace regraft::cost {

/// A Gelu written in parts, as the runtime knows it: (x * (erf(x / sqrt 2) + 1)) * 0.5, or
/// (x * 0.5) * (erf(x / sqrt 2) + 1).
struct GeluSite {
  graph::NodeId scale, erf = graph::kNoNode, plus_one, inner, outer;

  bool found() const { return erf != graph::kNoNode; }
  bool has(graph::NodeId node) const;
};

/// The Gelu that a node is part of, if any.
GeluSite gelu_around(const Neighbourhood& near, graph::NodeId node);

}  // namespace regraft::cost
