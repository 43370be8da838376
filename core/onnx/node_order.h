#pragma once

// Internal to core/onnx: the order of nodes that name what they use.

#include <onnx/onnx_pb.h>

#include <span>
#include <vector>

namespace regraft::onnx {

/// Indices of the nodes so that definitions come before uses, captured ones included; as they stand where
/// that is so already. Fewer than there are nodes where these feed each other in a circle. Of nodes that
/// define the same name the first counts.
std::vector<std::size_t> node_order(std::span<const ::onnx::NodeProto* const> nodes);

}
