#pragma once

// Internal to core/exec: a graph as a list of LibTorch's kernels.

#include <torch/types.h>

#include <map>
#include <string>
#include <vector>

#include "core/exec/torch/device_clock.h"
#include "core/exec/torch/torch_ops.h"
#include "core/onnx/imported_model.h"

namespace regraft::exec {

/// A node's first output and what a call of its kernel takes.
struct TimedStep {
  graph::Value value;
  double us = 0;
};

/// The main graph of a model, run node by node in the model's own types, always on the same inputs. What
/// follows from constants and from the sizes of tensors alone is computed once, at the first run, which the
/// constructor makes. Other tensors are freed after their last use. The model outlives it. One thread.
class TorchProgram {
 public:
  /// `inputs` by name, on the CPU. Throws ExecError where the graph has a node that it cannot run, or lacks
  /// an input.
  TorchProgram(const onnx::ImportedModel& model, at::Device device,
               const std::map<std::string, at::Tensor>& inputs);

  /// The outputs of the graph, on the device, as they are until the next run; with CUDA they may not be
  /// computed yet. Throws ExecError.
  std::vector<at::Tensor> run();
  /// Times each step on the tensors of a run; steps that are the same on tensors of the same form are timed
  /// once.
  std::vector<TimedStep> time_steps(const DeviceClock& clock, double budget_s);

 private:
  struct Step {
    graph::NodeId node = graph::kNoNode;
    bool once = false;  // what it computes is known after the first run
    TorchRow kernel = nullptr;
    std::vector<std::size_t> inputs, outputs;  // places in values_
    std::vector<at::ScalarType> types;         // of the outputs
    std::vector<std::size_t> dead;             // places that nothing reads afterwards
  };
  static constexpr std::size_t kAbsent = ~std::size_t{0};

  void place_values();
  void add_step(graph::NodeId node);
  void set_input(graph::NodeId node, const std::map<std::string, at::Tensor>& inputs);
  void set_known(std::size_t place, const at::Tensor& value);
  void find_last_uses();
  void load();
  void gather_operands(const Step& step);
  std::vector<at::Tensor> compute(const Step& step) const;
  void execute(const Step& step);
  std::string form_of(const Step& step) const;
  std::size_t place_of(graph::Value value) const { return first_place_[value.node] + value.output; }

  const onnx::ImportedModel& model_;
  const graph::Graph& graph_;
  at::Device device_;
  std::vector<std::size_t> first_place_;  // of a node's outputs, by node
  std::vector<at::Tensor> values_;        // on the device
  std::vector<at::Tensor> known_;         // on the CPU: constants, and what follows from them
  std::vector<bool> is_known_, is_kept_;  // is_kept_: inputs and outputs of the graph
  std::vector<Step> steps_;
  std::vector<at::Tensor> operands_, known_operands_;  // of the step that runs
};

}
