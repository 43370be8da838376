#pragma once

// Internal to core/onnx: the messages of a rewritten graph.

#include "core/onnx/export.h"
#include "core/onnx/model_store.h"

namespace regraft::onnx {

/// A slim ModelProto and the payloads that its placeholders name.
struct WrittenModel {
  ::onnx::ModelProto model;
  PayloadTable payloads;
};

WrittenModel write_messages(const ImportedModel& model, const graph::Graph& graph);

}  // namespace regraft::onnx
