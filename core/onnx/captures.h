#pragma once

// Internal to core/onnx: what sub-graphs take from outside.

#include <onnx/onnx_pb.h>

#include <string>
#include <unordered_map>
#include <vector>

namespace regraft::onnx {

/// Names that a node's sub-graphs take from outside, each once, in the order of first use.
std::vector<std::string> captured_names(const ::onnx::NodeProto& node);
/// The same of one body.
std::vector<std::string> captured_names(const ::onnx::GraphProto& body);

/// Renames what the node's sub-graphs take from outside.
void rename_captures(::onnx::NodeProto& node, const std::unordered_map<std::string, std::string>& changes);

}
