#pragma once

#include <vector>

#include "core/graph/host_tensor.h"
#include "core/graph/tables.h"

namespace regraft::graph {

/// Whether evaluate_op knows the op (OpTrait::kFoldable) for these types.
bool can_evaluate(const Tables& tables, OpKind kind, std::span<const TypeId> inputs);

/// Folds one operation in fixed-order fp64 (int64 for integers): the same bytes on every CPU. Throws
/// GraphError.
std::vector<HostTensor> evaluate_op(OpKind kind, const AttrBlock& attrs,
                                    std::span<const HostTensor* const> inputs);

/// Folds a weight expression. Shared sub-expressions are computed once a call.
HostTensor evaluate(const Tables& tables, WeightId weight);

/// The same as little-endian bytes of the weight's dtype. An expression that only moves elements (transposes,
/// joins, parts, repeats) is folded without converting them: exact for every dtype, and some ten times
/// faster.
std::vector<std::byte> evaluate_bytes(const Tables& tables, WeightId weight);

}
