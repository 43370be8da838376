#pragma once

// Internal to core/onnx: LSTM and GRU nodes.

#include <onnx/onnx_pb.h>

#include <span>

#include "core/graph/tables.h"

namespace regraft::onnx {

/// Whether the node is the one form that rules know: one direction, the usual functions, rows in time order,
/// no bounds. Inference looks at the operands.
bool is_plain_recurrence(const ::onnx::NodeProto& node, graph::OpKind kind, const graph::Tables& tables,
                         std::span<const graph::Operand> operands);

/// Adds the attributes of that form.
void add_recurrence_attributes(::onnx::NodeProto& node, graph::OpKind kind, std::int64_t hidden);

}
