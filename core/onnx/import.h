#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>

#include "core/onnx/imported_model.h"
#include "core/onnx/onnx_error.h"

namespace regraft::onnx {

struct ImportOptions {
  /// Calls of model-local functions that become the nodes of these, in the order of the nodes: at most so
  /// many.
  std::size_t inlined_calls = 0;
  /// Sizes of dims of the inputs, by name: the model is read, and written, as one for these sizes alone.
  std::map<std::string, std::int64_t> fixed = {};
};

/// Reads a model; its tensors stay in the mapped file (and in its external data files) until they are used.
/// Throws OnnxError when the file is missing, empty, truncated or no ONNX model, or contradicts itself.
ImportedModel import_model(const std::filesystem::path& path, const ImportOptions& options = {});

/// The same from memory, which must outlive the result. External data is looked for in `folder`.
ImportedModel import_model_bytes(std::span<const std::byte> bytes, const std::filesystem::path& folder,
                                 const ImportOptions& options = {});

}
