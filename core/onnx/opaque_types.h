#pragma once

// Internal to core/onnx: what tells opaque nodes apart, and their output types, so that later nodes can be
// typed. Types are known for ops without an OpKind, or in a form that is not understood. (ONNX's own schemas
// infer more, but read out of bounds on damaged models.)

#include <onnx/onnx_pb.h>

#include "core/graph/tables.h"
#include "core/onnx/payload.h"

namespace regraft::onnx {

/// One type an output; type_none() where nothing is known, as of most ops of other domains. What is said
/// holds in every opset.
graph::TypeList opaque_types(graph::Tables& tables, const ::onnx::NodeProto& node,
                             std::span<const graph::Operand> operands);

/// The op with its domain, and of its attributes those that its cost depends on (core/graph/opaque_work.h).
graph::AttrBlock opaque_attrs(const ::onnx::NodeProto& node);

/// Content of an opaque node, payloads included; names of the node and of its values left out.
Hash128 opaque_content(const ::onnx::NodeProto& node, const PayloadTable& payloads);

}
