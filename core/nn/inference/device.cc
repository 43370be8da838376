#include "core/nn/inference/device.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <torch/types.h>
#include <torch/version.h>

#include "core/libtorch/cuda.h"
#include "core/nn/model/nn_error.h"

namespace regraft::nn {

std::string resolve_device(std::string_view name) {
  if (name == "cpu") return "cpu";
  if (name == "auto") return cuda_problem() ? "cpu" : "cuda";
  if (name == "cuda") {
    if (const auto& problem = cuda_problem())
      throw NnError("CUDA cannot be used: " + *problem, "device", "use device = cpu");
    return "cuda";
  }
  throw UsageError("unknown device '" + std::string(name) + "'", "device", "use auto, cpu or cuda");
}

void set_torch_threads(int threads) {
  at::set_num_threads(threads);
}

void allow_tf32(bool allowed) {
  at::globalContext().setFloat32MatmulPrecision(allowed ? "high" : "highest");
}

std::string torch_description() {
  return "LibTorch " TORCH_VERSION ", " + std::to_string(at::get_num_threads()) + " threads, cuda " +
         (cuda_problem() ? "no (" + *cuda_problem() + ")" : "yes");
}

}
