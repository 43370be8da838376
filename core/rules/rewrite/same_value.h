#pragma once

// Internal to core/rules: operations whose result exists already.

#include <optional>

#include "core/graph/graph.h"

namespace regraft::rules {

/// The value that the only output of a node equals for all inputs, to the bit, -0 and NaN among them. That is
/// the operand of an operation that changes nothing (a Reshape to the same shape, x * 1, x + -0). For
/// operations done twice: Neg(Neg(x)) is x, Floor(Floor(x)) is Floor(x). Any element type; of floats the 1 or
/// -0 is one number, since several may be a norm's scale or bias. Nothing where the output is another value.
/// Float x + 0 is one: it turns -0 into 0.
/// `as_runtimes`: what ONNX Runtime drops at its lowest level: x + 0 too, and no operations done twice.
std::optional<graph::Value> same_value(const graph::Graph& graph, graph::NodeId id, bool as_runtimes = false);

/// Whether every value of one type is a value of the other, so that a Cast there and back changes nothing.
bool holds_all(graph::DType type, graph::DType of);

}
