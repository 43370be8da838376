#pragma once

// Internal to core/onnx: how nodes and their ops are called.

#include <onnx/onnx_pb.h>

#include <string>

namespace regraft::onnx {

/// Whether a domain is ONNX's own.
bool is_default_domain(const std::string& domain);
/// How op types of one domain are told from those of another: "domain.OpType" outside the default one.
std::string full_name(const std::string& domain, const std::string& op_type);
/// "node 3 (Conv 'stem')".
std::string describe(const ::onnx::NodeProto& node, int at);

}
