#pragma once

// Internal to core/onnx: calls of model-local functions become the nodes that the functions hold, as runtimes
// do it themselves before they optimise.

#include <onnx/onnx_pb.h>

#include <cstddef>

namespace regraft::onnx {

/// Puts the nodes of functions in the place of their calls, in bodies too, and in that of the calls that
/// these hold: the first `limit` in the order of the nodes. Gives how many. Functions that nothing calls then
/// are dropped. Left alone are calls of functions of the default domain, of other versions of an opset than
/// the model's, of what calls itself, and of what is written in a way that is not understood.
std::size_t inline_functions(::onnx::ModelProto& model, std::size_t limit);

}  // namespace regraft::onnx
