#pragma once

// Internal to core/exec/inputs.

#include <filesystem>
#include <span>

#include "core/exec/runtime/tensor.h"
#include "core/onnx/import.h"

namespace regraft::exec {

/// Sizes of the model's inner symbols that no formula over the inputs' dims gives (what a NonZero finds, what
/// an op makes that we do not know), as a run on these inputs shows them. By the name of the symbol; a symbol
/// whose value is optimised away is absent. Throws ExecError where the model does not run.
SymbolSizes observe_sizes(const onnx::ImportedModel& model, const SymbolSizes& sizes,
                          std::span<const Tensor> inputs);

}  // namespace regraft::exec
