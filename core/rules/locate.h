#pragma once

// Internal to core/rules: from a match back to its bindings.

#include <optional>

#include "core/rules/bindings.h"
#include "core/rules/rewrite.h"

namespace regraft::rules {

/// The bindings of the match that these nodes name (the first in written order), or nothing when the pattern
/// is not there. Guards are checked, legality is not.
std::optional<Bindings> locate(const CompiledRule& rule, const graph::Graph& graph,
                               std::span<const graph::NodeId> nodes);

}  // namespace regraft::rules
