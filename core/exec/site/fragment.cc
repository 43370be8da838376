#include "core/exec/site/fragment.h"

#include <string>

#include "core/exec/runtime/exec_error.h"
#include "core/exec/torch/torch_ops.h"

namespace regraft::exec {
namespace {

std::string node_text(const graph::Graph& graph, graph::NodeId id) {
  return "node " + std::to_string(id) + " (" + std::string(graph::op_info(graph.node(id).kind).name) + ")";
}

}  // namespace

const at::Tensor& TorchWeights::value(graph::WeightId weight) {
  const auto known = values_.find(weight);
  if (known != values_.end()) return known->second;
  return values_.emplace(weight, compute(weight)).first->second;
}

at::Tensor TorchWeights::compute(graph::WeightId weight) {
  const graph::WeightExpr& expr = tables_.weights()[weight];
  if (expr.form != graph::WeightExpr::Form::operation) {
    return to_torch(graph::HostTensor::from_bytes(tables_.type(expr.type), expr.bytes));
  }
  std::vector<at::Tensor> inputs;
  for (const graph::WeightId arg : expr.args) {
    inputs.push_back(arg == graph::WeightId::none ? at::Tensor() : value(arg));
  }
  return run_torch_op({expr.kind, tables_.attrs(expr.attrs), inputs}).at(expr.output);
}

const at::Tensor& Fragment::value(graph::Value wanted) {
  std::vector<graph::NodeId> waiting;
  if (!has(wanted)) waiting.push_back(wanted.node);
  while (!waiting.empty()) {
    const graph::NodeId id = waiting.back();
    const std::size_t before = waiting.size();
    for (const graph::Value& input : graph_.node(id).inputs) {
      if (input.present() && !has(input)) waiting.push_back(input.node);
    }
    if (waiting.size() != before) continue;
    waiting.pop_back();
    if (done_.insert(id).second) run(id);
  }
  return known_.at(wanted);
}

void Fragment::run(graph::NodeId id) {
  const graph::Node& node = graph_.node(id);
  if (node.kind == graph::OpKind::weight) return set({id, 0}, weights_.value(node.weight));
  if (node.kind == graph::OpKind::input || node.kind == graph::OpKind::opaque) {
    throw ExecError(
        node.kind == graph::OpKind::input ? "no value is given for this input" : "its meaning is not known",
        node_text(graph_, id), "");
  }
  std::vector<at::Tensor> inputs;
  for (const graph::Value& input : node.inputs)
    inputs.push_back(input.present() ? known_.at(input) : at::Tensor());
  std::vector<at::Tensor> results = run_torch_op({node.kind, graph_.attrs(id), inputs});
  if (results.size() < node.outputs.size()) {
    throw ExecError(
        "gives " + std::to_string(results.size()) + " outputs of " + std::to_string(node.outputs.size()),
        node_text(graph_, id), "");
  }
  for (std::uint32_t i = 0; i < results.size(); ++i) {
    // A value that was given stands, whatever its node would compute.
    if (!has({id, i})) set({id, i}, std::move(results[i]));
  }
}

}
