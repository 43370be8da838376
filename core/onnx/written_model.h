#pragma once

// Internal to core/onnx: the messages of a rewritten graph.

#include "core/onnx/imported_model.h"
#include "core/onnx/model_store.h"

namespace regraft::onnx {

/// A slim ModelProto and the payloads that its placeholders name.
struct WrittenModel {
  ::onnx::ModelProto model;
  PayloadTable payloads;
};

/// Writes the model's graphs, given in their order; a graph that is left out stays as it was.
WrittenModel write_messages(const ImportedModel& model, std::span<const graph::Graph> graphs);

}
