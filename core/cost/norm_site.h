#pragma once

#include "core/cost/neighbourhood.h"

namespace regraft::cost {

/// A norm over the last dim written in parts, as the runtime knows it. With d = x - mean(x):
///     LayerNormalization            d / sqrt(mean(pow(d, 2)) + eps) * scale + bias
///     SimplifiedLayerNormalization  x / sqrt(mean(pow(x, 2)) + eps) * scale, or x * (1 / sqrt(...)) * scale
/// The square is a Pow, not a Mul; the reciprocal a Div, not a Reciprocal; scale and bias are constants of
/// rank
/// 1. d may be computed twice. Checked against ONNX Runtime 1.31 (tests/core/cost/norm_site_test.cc).
struct NormSite {
  InlineVector<graph::NodeId, 12> nodes;  // empty: there is none
  graph::NodeId sqrt = graph::kNoNode;
  graph::NodeId eps = graph::kNoNode;  // the addition below the root
  graph::Value input;                  // x
  bool simplified = false;

  bool found() const { return sqrt != graph::kNoNode; }
  bool has(graph::NodeId node) const;
};

/// The norm that a node is part of, if any.
NormSite norm_around(const Neighbourhood& near, graph::NodeId node);

}  // namespace regraft::cost
