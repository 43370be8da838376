#pragma once

// Internal to core/exec/inputs.

#include <span>

#include "core/exec/runtime/tensor.h"
#include "core/onnx/import.h"

namespace regraft::exec {

/// Sizes of the model's inner symbols that no formula over the inputs' dims gives, as a run on these inputs
/// shows them. Examples are what a NonZero finds, and what an unknown op makes. By the name of the symbol; a
/// symbol whose value is optimised away is absent. Throws ExecError where the model does not run.
SymbolSizes observe_sizes(const onnx::ImportedModel& model, const SymbolSizes& sizes,
                          std::span<const Tensor> inputs);

}
