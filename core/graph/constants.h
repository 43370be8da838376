#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/graph/tables.h"

namespace regraft::graph {

/// One output of an operation on constants, with attributes in canonical form; its type is inferred. Throws
/// GraphError, also where the values do not allow it: integers that it divides by or raises to powers, reals
/// that are no integers of the type, indices out of range. Evaluating it later cannot fail.
WeightId constant_operation(Tables& tables, OpKind kind, AttrId attrs, std::span<const WeightId> args,
                            std::uint32_t output = 0);

/// The elements as integers, of constants of integer or boolean dtype with at most `limit` elements;
/// evaluates small expressions and remembers the answer. Valid until the next question.
std::optional<std::span<const std::int64_t>> integer_values(const Tables& tables, WeightId id,
                                                            std::size_t limit = 4096);
/// The value when every element is the same (one element, or up to `limit` equal ones).
std::optional<double> scalar_value(const Tables& tables, WeightId id, std::size_t limit = 64);

}
