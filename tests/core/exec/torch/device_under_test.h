#pragma once

#include <cstdlib>
#include <string>

#include "core/libtorch/cuda.h"

namespace regraft::exec::testing {

/// Where tests named OnTheDevice run: on the CPU, or as `tests/run.sh --gpu` has it, which sets
/// REGRAFT_DEVICE to cuda. There, without a GPU, they fail.
inline std::string device_under_test() {
  const char* name = std::getenv("REGRAFT_DEVICE");
  return name != nullptr && name == std::string("cuda") && (cuda_problem(), true) ? "cuda" : "cpu";
}

/// A GPU's convolutions round factors to 10 bits (TF32), as PyTorch has them; the error is a share of the
/// largest value.
inline constexpr double kTf32Tolerance = 1e-2;

}
