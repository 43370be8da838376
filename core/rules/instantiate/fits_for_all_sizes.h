#pragma once

// Internal to core/rules: what a right side asks of sizes.

#include <span>

#include "core/graph/tables.h"
#include "core/rules/compile/quantity.h"

namespace regraft::rules {

/// Whether operands of these types fit each other whatever the symbols among their dims stand for. Type
/// inference takes a symbol for the size that would fit. That is right for the given model, but not for what
/// a rewrite makes of it.
bool fits_for_all_sizes(const graph::Tables& tables, graph::OpKind kind, const graph::AttrBlock& attrs,
                        std::span<const graph::TypeId> operands);

/// The shape by which a Reshape makes several dims that are symbols; nothing where no constant does.
std::optional<graph::AttrValue> shape_for_all_sizes(const graph::TensorType& from, const Quantity& shape);

/// Whether the operation gives its first operand as it is: an idle Transpose or Reshape.
bool moves_nothing(graph::Tables& tables, graph::OpKind kind, const graph::AttrBlock& attrs,
                   std::span<const graph::Operand> operands);

}
