#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>

namespace onnx {
class GraphProto;
class NodeProto;
}

namespace regraft::exec {

/// The main graph of an ONNX file without the payload of its initialisers. Their names, dtypes and dims are
/// kept, and contents of at most `kept_bytes` bytes. Reads a mapped file front to back, so a model of any
/// size costs little memory. Throws ExecError on what is not a ModelProto.
::onnx::GraphProto read_skeleton(const std::filesystem::path& model, std::size_t kept_bytes = 0);

/// Visits the nodes of a graph, each before those of its own bodies.
void for_each_node(::onnx::GraphProto& graph, const std::function<void(::onnx::NodeProto&)>& visit);

}
