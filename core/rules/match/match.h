#pragma once

#include <cstdint>

#include "core/base/inline_vector.h"
#include "core/graph/graph.h"

namespace regraft::rules {

/// A place where a rule applies: the rule's number in its set and the matched operation nodes. The root
/// (anchor) comes first, then nodes in the order of the rule's pattern. Members of a sibling set are in the
/// canonical order of their own activations, then of their roots. (rule, nodes) names a match: it is what
/// actions and rewrite logs hold; bindings of variables are recomputed from it.
struct Match {
  std::uint32_t rule = 0;
  InlineVector<graph::NodeId, 8> nodes;

  bool operator==(const Match&) const = default;
};

}
