#include "core/nn/device.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <dlfcn.h>
#include <torch/cuda.h>
#include <torch/types.h>
#include <torch/version.h>

#include <filesystem>
#include <mutex>
#include <optional>
#include <typeinfo>

#include "core/nn/error.h"

namespace regraft::nn {
namespace {

/// Why CUDA cannot be used, or nothing where it can.
std::optional<std::string> open_cuda() {
  if (!std::filesystem::exists("/dev/nvidiactl")) return "this machine has no NVIDIA driver";
  if (dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL) == nullptr) return dlerror();
  if (typeid(at::detail::getCUDAHooks()) == typeid(at::CUDAHooksInterface))
    return "LibTorch was in use before CUDA was opened: report it";
  if (!torch::cuda::is_available()) return "LibTorch finds no usable GPU";
  return std::nullopt;
}

const std::optional<std::string>& cuda_problem() {
  static const std::optional<std::string> problem = open_cuda();
  return problem;
}

}  // namespace

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

}  // namespace regraft::nn
