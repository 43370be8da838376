#pragma once

// Internal to core/onnx: an If whose condition is known before the model runs is one of its branches.

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <unordered_map>

namespace regraft::onnx {

/// Nodes of a model, and what their condition is in every run.
using DecidedBranches = std::unordered_map<const ::onnx::NodeProto*, bool>;

/// Puts the nodes of the branch that is taken in the place of these nodes: the first `limit` in the order of
/// the nodes, the outer before the inner. Those in a branch that was put somewhere are left for another time.
/// Gives how many. The pointers are void afterwards.
std::size_t inline_branches(::onnx::ModelProto& model, const DecidedBranches& decided, std::size_t limit);

}
