#pragma once

// Internal to core/rules: what a right side asks of sizes.

#include <span>

#include "core/graph/tables.h"

namespace regraft::rules {

/// Whether operands of these types fit each other whatever the symbols among their dims stand for: type
/// inference takes a symbol for the size that would fit, which is right for the model as it is given and not
/// for what a rewrite makes of it.
bool fits_for_all_sizes(const graph::Tables& tables, graph::OpKind kind, const graph::AttrBlock& attrs,
                        std::span<const graph::TypeId> operands);

}  // namespace regraft::rules
