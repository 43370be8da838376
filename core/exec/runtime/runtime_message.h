#pragma once

#include <string>
#include <string_view>

namespace regraft::exec {

/// What an error of ONNX Runtime says of the model, in one line: "Conv 'c1': Invalid input shape: {0,5}".
/// Places and conditions in the runtime's own sources are left out.
std::string runtime_message(std::string_view what);

}
