#pragma once

// Internal to core/onnx: what exporters compute shapes with, element by element, before sizes are known
// ("data propagation" of the ONNX specification).

#include <onnx/onnx_pb.h>

#include <vector>

#include "core/graph/op.h"
#include "core/graph/tables.h"

namespace regraft::onnx {

using Elements = std::vector<graph::Element>;

/// The elements of an operand, constant or computed; none where nothing is known of them.
Elements elements_of(const graph::Tables& tables, const graph::Operand& operand);

/// The elements of what a node gives, of a type; none where nothing is known of them or they are many.
/// Operands are as `attrs`, in canonical form, leave them.
Elements computed_elements(graph::Tables& tables, graph::OpKind kind, const graph::AttrBlock& attrs,
                           std::span<const graph::Operand> operands, graph::TypeId type);

/// The same of an opaque node of the default domain: a part of a Shape, a Size, a product of sizes.
Elements opaque_elements(graph::Tables& tables, const ::onnx::NodeProto& node,
                         std::span<const graph::Operand> operands);

/// The dims that a Shape node of any opset gives, `start` and `end` heeded; nothing where the rank is
/// unknown.
std::optional<graph::Dims> part_of_shape(const ::onnx::NodeProto& node, const graph::TensorType& type);

}
