#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/exec/runtime/ort_session.h"
#include "core/exec/runtime/tensor.h"

namespace regraft::exec {

/// A node of a model, and what it takes alone.
struct NodeTime {
  std::string op;     // "Conv"
  std::string value;  // its first output, as the model calls it
  double us = 0;
};

/// What computes: "2.11.0", with the GPU "2.11.0 on NVIDIA H100 80GB HBM3". Throws ExecError where LibTorch
/// cannot use the device, UsageError for another name than cpu and cuda.
std::string torch_version(const std::string& device);

/// A model in LibTorch, on the CPU or a GPU, for one set of inputs. It holds the weights. One at a time in a
/// process, and one thread. Everything throws ExecError that names the model's file: ops that regraft does
/// not model (those of If, Loop and Scan among them), types that LibTorch does not compute with, a device
/// that cannot be used.
class TorchModel {
 public:
  /// Loads it and runs it once. `device`: cpu or cuda. `threads`: of LibTorch in this process, on the CPU.
  TorchModel(const std::filesystem::path& model, const std::string& device, int threads,
             const std::map<std::string, Tensor>& inputs);
  ~TorchModel();

  /// All outputs, in the model's order.
  std::vector<Tensor> run();
  /// As OrtSession::time_runs_ms; on a GPU by the clock, until the device is done.
  std::vector<double> time_runs_ms(const TimingPlan& plan);
  /// What each node takes alone, on the tensors that it has in a run, in the order of running; at most about
  /// budget_s for all. On a GPU it is the time there, or the time to start it where that is longer. Nodes
  /// that follow from constants and sizes alone take nothing, and are left out.
  std::vector<NodeTime> time_nodes(double budget_s);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}
