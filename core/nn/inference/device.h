#pragma once

#include <string>
#include <string_view>

namespace regraft::nn {

/// Resolves "auto", "cpu" or "cuda" to "cpu" or "cuda". Where an NVIDIA driver is present, the first call
/// loads libtorch_cuda.so: call it before anything else of LibTorch, which looks for CUDA once and never
/// again. "auto" takes CUDA when it works. Throws NnError when "cuda" is asked for and cannot be had,
/// UsageError on any other name. Thread-safe.
std::string resolve_device(std::string_view name);

/// Sets LibTorch's threads of the whole process: 1 for an actor, the cores given to a learner. Call once at
/// start.
void set_torch_threads(int threads);

/// Whether products of matrices on a GPU of this process may round their factors to 10 bits of mantissa
/// (TF32): they are faster, with errors of 1e-3 in place of 1e-7. Off at first.
void allow_tf32(bool allowed);

/// LibTorch's version and devices, one line, for logs.
std::string torch_description();

}
