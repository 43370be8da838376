#pragma once

#include <torch/types.h>

#include <initializer_list>
#include <vector>

namespace regraft::nn::training {

/// On the CPU the tensor itself. To CUDA through pinned memory, asynchronously: the caller goes on at once,
/// and what the device is asked for later waits for the copy.
inline torch::Tensor to_device(const torch::Tensor& host, torch::Device device) {
  return device.is_cpu() ? host : host.pin_memory().to(device, host.scalar_type(), /*non_blocking=*/true);
}

/// An array on a device. On the CPU it aliases `values`, which must outlive it.
template <typename T>
torch::Tensor aliased(const std::vector<T>& values, at::IntArrayRef shape, torch::Device device) {
  const auto type = c10::CppTypeToScalarType<T>::value;
  return to_device(torch::from_blob(const_cast<T*>(values.data()), shape, type), device);
}

/// The same where `values` may go away.
template <typename T>
torch::Tensor copied(const std::vector<T>& values, at::IntArrayRef shape, torch::Device device) {
  const torch::Tensor tensor = aliased(values, shape, device);
  return device.is_cpu() ? tensor.clone() : tensor;
}
template <typename T>
torch::Tensor copied(const std::vector<T>& values, torch::Device device) {
  return copied(values, {static_cast<std::int64_t>(values.size())}, device);
}

/// Numbers that a device has computed, in one transfer: the one thing that waits for it.
inline std::vector<double> to_host(std::initializer_list<torch::Tensor> scalars) {
  std::vector<torch::Tensor> all;
  for (const torch::Tensor& scalar : scalars) all.push_back(scalar.detach().to(torch::kFloat64));
  const torch::Tensor host = torch::stack(all).cpu();
  return {host.data_ptr<double>(), host.data_ptr<double>() + host.numel()};
}

}
