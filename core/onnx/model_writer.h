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

/// Of the graphs of the model in their order; what is left out stays as it was.
WrittenModel write_messages(const ImportedModel& model, std::span<const graph::Graph> graphs);

}  // namespace regraft::onnx
