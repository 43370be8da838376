#pragma once

// Internal to core/onnx: the Graph of a parsed model.

#include "core/onnx/model_store.h"

namespace regraft::onnx {

/// Builds the main graph, then the bodies in it, and fills store.scopes. Throws OnnxError when names are
/// defined twice or not at all, or when nodes feed each other in a circle; a body of which this is true stays
/// closed.
void build_graphs(ModelStore& store, graph::Tables& tables);

}
