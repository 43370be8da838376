#pragma once

// Internal to core/exec: ops as PyTorch itself would run them, in the model's own types and on any device.

#include "core/exec/torch/torch_ops.h"

namespace regraft::exec {

/// LibTorch's own kernel of an op where it has one that the oracle's row does not use: its result is that of
/// the row within the rounding of its type. Where the kernel does not take an op's attributes, it calls the
/// row. The row itself for all others; nullptr as torch_row.
TorchRow torch_kernel(graph::OpKind kind);

/// Throws ExecError for a type that LibTorch does not compute with.
at::ScalarType torch_type(graph::DType dtype);

}
