#include "core/exec/torch/torch_model.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <torch/types.h>
#include <torch/version.h>

#include <cstring>

#include "core/exec/runtime/exec_error.h"
#include "core/exec/torch/torch_kernels.h"
#include "core/exec/torch/torch_program.h"
#include "core/libtorch/cuda.h"
#include "core/onnx/import.h"

namespace regraft::exec {
namespace {

at::Device device_of(const std::string& name) {
  if (name == "cpu") return at::kCPU;
  if (name != "cuda") throw UsageError("unknown device '" + name + "'", "LibTorch", "use cpu or cuda");
  if (const auto& problem = cuda_problem())
    throw ExecError("CUDA cannot be used: " + *problem, "LibTorch", "use --runtime torch-cpu");
  return {at::kCUDA, 0};
}

at::Tensor copy_of(const Tensor& tensor) {
  const at::Tensor copy = at::empty(tensor.dims, torch_type(tensor.dtype));
  std::memcpy(copy.data_ptr(), tensor.bytes.data(), tensor.bytes.size());
  return copy;
}

Tensor copy_of(const at::Tensor& tensor, DType dtype) {
  const at::Tensor host = tensor.to(at::kCPU).contiguous();
  const auto* const bytes = static_cast<const std::byte*>(host.data_ptr());
  return {dtype, host.sizes().vec(), {bytes, bytes + host.nbytes()}, {}};
}

onnx::ImportedModel load(const std::filesystem::path& model) {
  return onnx::import_model(model, {.inlined_calls = SIZE_MAX});
}

std::map<std::string, at::Tensor> copies_of(const std::map<std::string, Tensor>& tensors) {
  std::map<std::string, at::Tensor> converted;
  for (const auto& [name, tensor] : tensors) converted[name] = copy_of(tensor);
  return converted;
}

}  // namespace

std::string torch_version(const std::string& device) {
  return device_of(device).is_cpu() ? TORCH_VERSION : TORCH_VERSION " on " + cuda_device_name();
}

struct TorchModel::Impl {
  Impl(const std::filesystem::path& file, at::Device device, int threads,
       const std::map<std::string, Tensor>& inputs)
      : model(load(file)), program(model, device, copies_of(inputs)), clock(device, threads) {}

  onnx::ImportedModel model;
  TorchProgram program;
  DeviceClock clock;
};

TorchModel::TorchModel(const std::filesystem::path& model, const std::string& device, int threads,
                       const std::map<std::string, Tensor>& inputs) {
  const at::Device where = device_of(device);
  at::set_num_threads(threads);
  at::globalContext().setBenchmarkCuDNN(true);  // sizes stay the same, so the fastest kernels are found once
  impl_ = std::make_unique<Impl>(model, where, threads, inputs);
}

TorchModel::~TorchModel() = default;

std::vector<Tensor> TorchModel::run() {
  const std::vector<at::Tensor> outputs = impl_->program.run();
  const graph::Graph& graph = impl_->model.graph();
  std::vector<Tensor> tensors;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    tensors.push_back(copy_of(outputs[i], graph.type(graph.outputs()[i]).dtype));
  return tensors;
}

std::vector<double> TorchModel::time_runs_ms(const TimingPlan& plan) {
  const auto run = [&] { return impl_->clock.run_ms([&] { impl_->program.run(); }); };
  for (int i = 0; i < plan.warmup_runs; ++i) run();
  std::vector<double> times;
  double spent_ms = 0;
  while (static_cast<int>(times.size()) < plan.max_runs &&
         (static_cast<int>(times.size()) < plan.min_runs || spent_ms < plan.budget_s * 1e3)) {
    times.push_back(run());
    spent_ms += times.back();
  }
  return times;
}

std::vector<NodeTime> TorchModel::time_nodes(double budget_s) {
  std::vector<NodeTime> nodes;
  for (const auto& [value, us] : impl_->program.time_steps(impl_->clock, budget_s)) {
    const graph::OpKind kind = impl_->model.graph().node(value.node).kind;
    nodes.push_back({std::string(graph::op_info(kind).name), impl_->model.value_name(value), us});
  }
  return nodes;
}

}
