#pragma once

// Internal to core/onnx: the forms in which the opset's versions write an op, brought to the one that
// graph::canonical_attrs takes.

#include <onnx/onnx_pb.h>

#include <optional>

#include "core/graph/tables.h"
#include "core/onnx/payload.h"

namespace regraft::onnx {

/// A number, a text or a list of integers; nothing of other types.
std::optional<graph::AttrValue> attribute_value(const ::onnx::AttributeProto& attribute);

/// Attributes of a node of a known op, with those that mean nothing left out, auto_pad made explicit and
/// sizes of Split filled in; `operands` carry every value that is known, of a constant or folded. Nothing
/// when the node is in a form that regraft does not understand: it is then kept as an opaque node.
std::optional<graph::AttrBlock> read_attributes(const ::onnx::NodeProto& node, graph::OpKind kind,
                                                std::int64_t opset, const graph::Tables& tables,
                                                std::span<const graph::Operand> operands,
                                                const PayloadTable& payloads);

/// Operands beyond so many are read into attributes by read_attributes, and no inputs of the node: they must
/// be constants.
std::size_t operands_kept(graph::OpKind kind);

}
