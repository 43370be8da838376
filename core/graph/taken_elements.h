#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/graph/op.h"

namespace regraft::graph {

/// The places along an axis of this size that a Slice takes, in its order (ONNX Slice 13; Shape 15 takes dims
/// so, too). Bounds may count from the end, and are clamped. The step is not 0.
std::vector<std::int64_t> slice_places(std::int64_t size, std::int64_t start, std::int64_t end,
                                       std::int64_t step = 1);

/// The elements of a vector that a Gather with these indices takes, or a Slice. Unknown is what an index
/// takes that is unknown or out of range. None of other ops, and of a Slice whose bounds are computed.
std::vector<Element> taken_elements(OpKind kind, const AttrBlock& attrs, std::span<const Element> from,
                                    std::span<const Element> indices);

/// What a Slice of known integers along one axis, with any step, gives in every run, or WeightId::none.
/// Exporters write pads so. Its inputs are data, starts, ends, axes, steps; at most 4096 elements.
WeightId known_slice(Tables& tables, std::span<const Operand> operands);

}
