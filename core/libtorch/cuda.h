#pragma once

#include <optional>
#include <string>

namespace regraft {

/// Why LibTorch cannot use a GPU in this process, or nothing where it can. The first call loads
/// libtorch_cuda.so where an NVIDIA driver is present: before other uses of LibTorch. Thread-safe.
const std::optional<std::string>& cuda_problem();

/// What the driver calls the GPU that LibTorch uses: "NVIDIA H100 80GB HBM3". Only without a cuda_problem().
std::string cuda_device_name();

}  // namespace regraft
