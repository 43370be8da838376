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

/// Gelu by Tanh, in the forms that the runtime knows (FastGelu), with z = sqrt(2 / pi) * (x + 0.044715 *
/// x^3): (x * 0.5) * (tanh(z) + 1). z is written so with Pow, or as (x * 0.797...) * (1 + x * (x *
/// 0.044715)).
struct FastGeluSite {
  InlineVector<graph::NodeId, 10> nodes;  // empty: there is none
  graph::NodeId tanh = graph::kNoNode;
  graph::NodeId plus_one = graph::kNoNode;  // behind it

  bool found() const { return tanh != graph::kNoNode; }
  bool has(graph::NodeId node) const;
};

FastGeluSite fast_gelu_around(const Neighbourhood& near, graph::NodeId node);

}  // namespace regraft::cost
