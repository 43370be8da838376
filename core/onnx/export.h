#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/onnx/imported_model.h"

namespace regraft::onnx {

enum class ExternalData : std::uint8_t {
  when_needed,  // when the imported model had it, or the file would pass protobuf's 2 GB
  never,
  always,
};

struct ExportOptions {
  ExternalData external_data = ExternalData::when_needed;
};

/// Writes `graphs`, which came from those of `model` by rewriting, as an ONNX model: the main graph, then the
/// bodies in the model's order; those left out are written as they were.
///
/// Nodes of the model that are still there keep their NodeProto, with inputs renamed where edges changed;
/// nodes made by rewrites get new names and are written in the form that the model's opset has. Everything
/// else is the model's: names of inputs and outputs, initializers, metadata, functions. No graph of the model
/// has a new name already. Initializers and Constant nodes are dropped only when they were used before and
/// are not now; folded weights become initializers, one each. An untouched graph gives the same nodes in the
/// same order. The bytes depend on the model and the graph alone.
///
/// External data goes to one file beside the model, named after it and after the data's own contents
/// (model.onnx.<hash>.data). So a model never meets another one's data, not even after a crash. What earlier
/// exports to `path` left is removed at the end, unless another model names it. Files appear whole or not at
/// all. Tensors are streamed: memory holds one folded weight at a time. Throws OnnxError (an op that the
/// opset lacks, too large a model) and FileError.
void export_model(const ImportedModel& model, std::span<const graph::Graph> graphs,
                  const std::filesystem::path& path, const ExportOptions& options = {});

inline void export_model(const ImportedModel& model, const graph::Graph& main,
                         const std::filesystem::path& path, const ExportOptions& options = {}) {
  export_model(model, std::span(&main, 1), path, options);
}

/// The same in memory, without external data.
std::string export_model_bytes(const ImportedModel& model, std::span<const graph::Graph> graphs);

inline std::string export_model_bytes(const ImportedModel& model, const graph::Graph& main) {
  return export_model_bytes(model, std::span(&main, 1));
}

}
