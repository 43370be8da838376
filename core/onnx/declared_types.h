#pragma once

// Internal to core/onnx: types that the model declares.

#include <onnx/onnx_pb.h>

#include <string>

#include "core/graph/tables.h"

namespace regraft::onnx {

/// Element types that shape inference and rules understand.
bool is_plain(graph::DType dtype);

/// Tensor types keep dtype and dims, with named dims as symbols; anything else (sequence, map, optional) is
/// type_none(). Dims without a name are fresh symbols; of the graph input `input` they are called
/// "input.axis".
graph::TypeId declared_type(graph::Tables& tables, const ::onnx::TypeProto& type,
                            const std::string& input = "");

/// What both know together: numbers win over symbols, named symbols over nameless ones; where they contradict
/// each other the inferred type stands.
graph::TypeId merge_types(graph::Tables& tables, graph::TypeId inferred, graph::TypeId declared);

/// Whether sizes of what an op gives follow from values of the run: what a model declares them to be may hold
/// for some runs only.
bool sizes_are_values(graph::OpKind kind, std::span<const graph::Operand> operands);

}
