#pragma once

#include <optional>
#include <string>

namespace regraft {

/// Why LibTorch cannot use a GPU in this process, or nothing where it can. The first call loads
/// libtorch_cuda.so where an NVIDIA driver is present: call it before anything else of LibTorch, which looks
/// for CUDA once and never again. Thread-safe.
const std::optional<std::string>& cuda_problem();

/// What the driver calls the GPU that LibTorch uses: "NVIDIA H100 80GB HBM3". Only without a cuda_problem().
std::string cuda_device_name();

}
