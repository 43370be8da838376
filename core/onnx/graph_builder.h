#pragma once

// Internal to core/onnx: the Graph of a parsed model.

#include "core/onnx/model_store.h"

namespace regraft::onnx {

/// Builds the main graph and fills what `store` says about it. Throws OnnxError when names are defined twice
/// or not at all, or when nodes feed each other in a circle.
graph::Graph build_graph(ModelStore& store, graph::Tables& tables, const ImportOptions& options);

}  // namespace regraft::onnx
