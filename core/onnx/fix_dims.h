#pragma once

// Internal to core/onnx: sizes that dynamic dims are to have in every run.

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <map>
#include <string>

namespace regraft::onnx {

/// Gives the dims of these names their sizes, wherever the model and its bodies declare them. A dim of the
/// graph input `input` that has no name is called "input.axis".
void fix_dims(::onnx::ModelProto& model, const std::map<std::string, std::int64_t>& sizes);

}
