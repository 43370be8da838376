#pragma once

// Internal to core/onnx: tensors whose contents lie in files beside the model.

#include "core/onnx/model_store.h"

namespace regraft::onnx {

/// Maps the data files and turns each external tensor into a placeholder of store.payloads. Throws OnnxError
/// when a file is missing or outside of the model's folder, and when two ranges overlap in part. Throws it
/// also when a range leaves its file or does not fit the tensor's dims.
void load_external_data(ModelStore& store, const std::filesystem::path& folder);

}
