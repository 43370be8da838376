#include "core/libtorch/cuda.h"

#include <ATen/detail/CUDAHooksInterface.h>
#include <dlfcn.h>
#include <torch/cuda.h>

#include <array>
#include <filesystem>
#include <typeinfo>

namespace regraft {
namespace {

std::optional<std::string> open_cuda() {
  if (!std::filesystem::exists("/dev/nvidiactl")) return "this machine has no NVIDIA driver";
  if (dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL) == nullptr) return dlerror();
  if (typeid(at::detail::getCUDAHooks()) == typeid(at::CUDAHooksInterface))
    return "LibTorch was in use before CUDA was opened: report it";
  if (!torch::cuda::is_available()) return "LibTorch finds no usable GPU";
  return std::nullopt;
}

}  // namespace

const std::optional<std::string>& cuda_problem() {
  static const std::optional<std::string> problem = open_cuda();
  return problem;
}

// By the driver's own library, since CUDA's headers are not needed to build.
std::string cuda_device_name() {
  using GetName = int (*)(char* name, int length, int device);  // CUresult cuDeviceGetName
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  const auto get_name =
      driver == nullptr ? nullptr : reinterpret_cast<GetName>(dlsym(driver, "cuDeviceGetName"));
  std::array<char, 128> name{};
  const bool known = get_name != nullptr && get_name(name.data(), static_cast<int>(name.size() - 1), 0) == 0;
  return known ? name.data() : "a GPU";
}

}
