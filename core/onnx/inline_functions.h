#pragma once

// Internal to core/onnx: calls of model-local functions become the nodes that the functions hold, as runtimes
// do it themselves before they optimise.

#include <onnx/onnx_pb.h>

#include <cstddef>

namespace regraft::onnx {

/// Replaces calls of functions by the functions' nodes, in bodies too, and calls within these: the first
/// `limit` in the order of the nodes. Returns how many. Functions that nothing calls any more are dropped.
/// Not replaced are calls of functions of the default domain, of another opset version than the model's, of
/// functions that call themselves, and of functions in a form that is not understood.
std::size_t inline_functions(::onnx::ModelProto& model, std::size_t limit);

}
