#include "core/exec/torch/torch_program.h"

#include <algorithm>
#include <ranges>
#include <sstream>
#include <unordered_map>
#include <utility>

#include "core/exec/runtime/exec_error.h"
#include "core/exec/torch/torch_kernels.h"
#include "core/graph/order.h"

namespace regraft::exec {
namespace {

using graph::NodeId;
using graph::OpKind;

constexpr std::int64_t kMostKnownElements =
    4096;  // of tensors that stay on the CPU too, for kernels that ask

/// A constant of the model, on the CPU.
at::Tensor constant(const graph::Tables& tables, graph::WeightId weight) {
  const graph::TensorType& type = tables.type(tables.weights()[weight].type);
  std::vector<std::byte> bytes = graph::evaluate_bytes(tables, weight);
  const std::vector<std::int64_t> dims(type.dims.begin(), type.dims.end());
  return at::from_blob(bytes.data(), dims, torch_type(type.dtype)).clone();
}

/// The nodes that the outputs need, in an order of running. What is known needs nothing.
std::vector<NodeId> needed_nodes(const graph::Graph& graph,
                                 const std::map<graph::Value, graph::WeightId>& known) {
  std::vector<bool> needed(graph.id_bound());
  std::vector<NodeId> open;
  const auto need = [&](graph::Value value) {
    if (!value.present() || known.contains(value) || needed[value.node]) return;
    needed[value.node] = true;
    open.push_back(value.node);
  };
  for (const graph::Value output : graph.outputs()) need(output);
  while (!open.empty()) {
    const NodeId id = open.back();
    open.pop_back();
    for (const graph::Value input : graph.node(id).inputs) need(input);
  }
  std::vector<NodeId> order = graph::topological_order(graph);
  std::erase_if(order, [&](NodeId id) { return !needed[id]; });
  return order;
}

}  // namespace

TorchProgram::TorchProgram(const onnx::ImportedModel& model, at::Device device,
                           const std::map<std::string, at::Tensor>& inputs)
    : model_(model), graph_(model.graph()), device_(device) {
  place_values();
  std::map<graph::Value, graph::WeightId> known;
  for (const onnx::KnownValue& one : model.known_values()) {
    known[one.value] = one.weight;
    set_known(place_of(one.value), constant(model.tables(), one.weight));
  }
  for (const NodeId id : needed_nodes(graph_, known)) {
    const graph::Node& node = graph_.node(id);
    if (node.kind == OpKind::weight)
      set_known(place_of({id, 0}), constant(model.tables(), node.weight));
    else if (node.kind == OpKind::input)
      set_input(id, inputs);
    else
      add_step(id);
  }
  for (const graph::Value output : graph_.outputs()) is_kept_[place_of(output)] = true;
  load();
}

void TorchProgram::place_values() {
  std::size_t places = 0;
  for (NodeId id = 0; id < graph_.id_bound(); ++id) {
    first_place_.push_back(places);
    if (graph_.alive(id)) places += graph_.node(id).outputs.size();
  }
  values_.resize(places);
  known_.resize(places);
  is_known_.resize(places);
  is_kept_.resize(places);
}

void TorchProgram::set_known(std::size_t place, const at::Tensor& value) {
  known_[place] = value;
  is_known_[place] = true;
}

void TorchProgram::set_input(NodeId node, const std::map<std::string, at::Tensor>& inputs) {
  const std::string name = model_.value_name({node, 0});
  const auto given = inputs.find(name);
  if (given == inputs.end())
    throw ExecError("input '" + name + "' has no value", model_.path(),
                    "export the model without initializers among its inputs");
  values_[place_of({node, 0})] = given->second.to(device_);
  is_kept_[place_of({node, 0})] = true;
}

void TorchProgram::add_step(NodeId id) {
  const graph::Node& node = graph_.node(id);
  Step step;
  step.node = id;
  step.kernel = torch_kernel(node.kind);
  if (step.kernel == nullptr)
    throw ExecError("it cannot be run in LibTorch: regraft does not model " + model_.op_type(node.origin) +
                        ", or not in this form",
                    model_.path(), "use --runtime onnxruntime");
  for (const graph::Value input : node.inputs)
    step.inputs.push_back(input.present() ? place_of(input) : kAbsent);
  for (std::uint32_t i = 0; i < node.outputs.size(); ++i) {
    step.outputs.push_back(place_of({id, i}));
    step.types.push_back(torch_type(graph_.type({id, i}).dtype));
  }
  step.once = node.kind == OpKind::shape || std::ranges::all_of(step.inputs, [&](std::size_t place) {
                return place == kAbsent || is_known_[place];
              });
  for (const std::size_t place : step.outputs) is_known_[place] = is_known_[place] || step.once;
  steps_.push_back(std::move(step));
}

/// From the last step on; those whose outputs nothing reads are left out.
void TorchProgram::find_last_uses() {
  std::vector<bool> read(values_.size());
  for (const graph::Value output : graph_.outputs()) read[place_of(output)] = true;
  for (Step& step : steps_ | std::views::reverse) {
    step.dead.clear();
    if (std::ranges::none_of(step.outputs, [&](std::size_t place) { return read[place]; })) {
      step.kernel = nullptr;
      continue;
    }
    for (const auto* places : {&step.outputs, &step.inputs})
      for (const std::size_t place : *places) {
        if (place == kAbsent || read[place]) continue;
        read[place] = true;
        if (!is_kept_[place] && !is_known_[place]) step.dead.push_back(place);
      }
  }
  std::erase_if(steps_, [](const Step& step) { return step.kernel == nullptr; });
}

void TorchProgram::load() {
  const at::InferenceMode inference;
  find_last_uses();
  for (const Step& step : steps_) {
    for (const std::size_t place : step.inputs)
      if (place != kAbsent && !step.once && !values_[place].defined())
        values_[place] = known_[place].to(device_);
    gather_operands(step);
    execute(step);
  }
  for (const graph::Value output : graph_.outputs())
    if (at::Tensor& value = values_[place_of(output)]; !value.defined())
      value = known_[place_of(output)].to(device_);
  std::erase_if(steps_, [](const Step& step) { return step.once; });
  find_last_uses();
  for (at::Tensor& value : known_)
    if (value.defined() && value.numel() > kMostKnownElements) value.reset();
}

void TorchProgram::gather_operands(const Step& step) {
  operands_.clear();
  known_operands_.clear();
  for (const std::size_t place : step.inputs) {
    known_operands_.push_back(place == kAbsent ? at::Tensor() : known_[place]);
    const bool on_cpu = step.once && place != kAbsent && known_[place].defined();
    operands_.push_back(place == kAbsent ? at::Tensor() : on_cpu ? known_[place] : values_[place]);
  }
}

std::vector<at::Tensor> TorchProgram::compute(const Step& step) const {
  const graph::Node& node = graph_.node(step.node);
  std::vector<at::Tensor> results;
  try {
    results = step.kernel({node.kind, graph_.attrs(step.node), operands_, known_operands_});
    for (std::size_t i = 0; i < step.types.size(); ++i) results.at(i) = results[i].to(step.types[i]);
  } catch (const c10::Error& error) {
    const std::string op(graph::op_info(node.kind).name);
    throw ExecError("LibTorch cannot run " + op + " '" + model_.value_name({step.node, 0}) +
                        "': " + error.what_without_backtrace(),
                    model_.path(), "use --runtime onnxruntime");
  }
  return results;
}

void TorchProgram::execute(const Step& step) {
  std::vector<at::Tensor> results = compute(step);
  for (std::size_t i = 0; i < step.outputs.size(); ++i) {
    const std::size_t place = step.outputs[i];
    if (step.once)
      known_[place] = std::move(results[i]);
    else
      values_[place] = std::move(results[i]);
  }
  for (const std::size_t place : step.dead) values_[place].reset();
}

std::vector<at::Tensor> TorchProgram::run() {
  const at::InferenceMode inference;
  for (const Step& step : steps_) {
    gather_operands(step);
    execute(step);
  }
  std::vector<at::Tensor> outputs;
  for (const graph::Value output : graph_.outputs()) outputs.push_back(values_[place_of(output)]);
  return outputs;
}

/// What decides how long a step takes: its op, and types, sizes and strides of its operands.
std::string TorchProgram::form_of(const Step& step) const {
  const graph::Node& node = graph_.node(step.node);
  std::ostringstream form;
  form << static_cast<int>(node.kind) << ' ' << graph::index(node.attrs);
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    form << "; " << known_operands_[i].defined();
    if (operands_[i].defined())
      form << ' ' << operands_[i].scalar_type() << operands_[i].sizes() << operands_[i].strides();
  }
  return form.str();
}

std::vector<TimedStep> TorchProgram::time_steps(const DeviceClock& clock, double budget_s) {
  const at::InferenceMode inference;
  std::unordered_map<std::string, double> known_us;
  std::vector<TimedStep> times;
  for (const Step& step : steps_) {
    gather_operands(step);
    const auto [at, fresh] = known_us.try_emplace(form_of(step));
    if (fresh)
      at->second = clock.each_us([&] { compute(step); }, budget_s / static_cast<double>(steps_.size()));
    times.push_back({{step.node, 0}, at->second});
    execute(step);
  }
  return times;
}

}
