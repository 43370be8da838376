#pragma once

#include <cstddef>
#include <filesystem>

namespace onnx {
class GraphProto;
}

namespace regraft::exec {

/// The main graph of an ONNX file without the payload of its initialisers. Their names, dtypes and dims are
/// kept, and contents of at most `kept_bytes` bytes. Reads a mapped file front to back, so a model of any
/// size costs little memory. Throws ExecError on what is not a ModelProto.
::onnx::GraphProto read_skeleton(const std::filesystem::path& model, std::size_t kept_bytes = 0);

}  // namespace regraft::exec
