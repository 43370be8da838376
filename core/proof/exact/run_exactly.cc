#include "core/proof/exact/run_exactly.h"

#include <unordered_map>

#include "core/graph/evaluate.h"
#include "core/graph/order.h"

namespace regraft::proof {
namespace {

using graph::OpKind;
using graph::WeightId;

ExactTensor exact_of(const graph::HostTensor& tensor) {
  ExactTensor out{tensor.dtype, tensor.dims, {}};
  for (double value : tensor.real) out.values.push_back(Exact::of(value));
  for (std::int64_t value : tensor.integer) out.values.push_back(Exact::of(value));
  return out;
}

/// What is larger takes too long.
void refuse_large(const graph::TensorType& type) {
  constexpr double kMostElements = 1 << 18;
  double elements = 1;
  for (const graph::Dim dim : type.dims) elements *= static_cast<double>(dim);
  if (elements > kMostElements) throw Undecided("a tensor is too large", "exact evaluation", "");
}

class Evaluation {
 public:
  explicit Evaluation(const graph::Graph& graph) : graph_(graph), tables_(graph.tables()) {}

  std::vector<ExactTensor> run(const ExactInputMap& inputs) {
    for (graph::NodeId id : graph::topological_order(graph_)) {
      const graph::Node& node = graph_.node(id);
      if (node.kind == OpKind::input) {
        values_[{id, 0}] = inputs.at(node.origin);
      } else if (node.kind == OpKind::weight) {
        values_[{id, 0}] = weight(node.weight);
      } else {
        compute(id, node);
      }
    }
    std::vector<ExactTensor> out;
    for (graph::Value v : graph_.outputs()) out.push_back(values_.at(v));
    return out;
  }

 private:
  void compute(graph::NodeId id, const graph::Node& node) {
    std::vector<const ExactTensor*> operands;
    for (graph::Value v : node.inputs) operands.push_back(v.present() ? &values_.at(v) : nullptr);
    refuse_large(tables_.type(node.outputs[0]));
    std::vector<ExactTensor> out =
        evaluate_exactly(node.kind, tables_.attrs(node.attrs), operands, tables_.type(node.outputs[0]));
    for (std::uint32_t i = 0; i < out.size(); ++i) values_[{id, i}] = std::move(out[i]);
  }

  const ExactTensor& weight(WeightId id) {
    const auto held = weights_.find(id);
    if (held != weights_.end()) return held->second;
    const graph::WeightExpr& expr = tables_.weights()[id];
    refuse_large(tables_.type(expr.type));
    ExactTensor value;
    if (expr.form != graph::WeightExpr::Form::operation) {
      value = exact_of(graph::HostTensor::from_bytes(tables_.type(expr.type), expr.bytes));
    } else if (expr.kind == OpKind::constant_of_shape) {
      value = exact_of(graph::evaluate(tables_, id));
    } else {
      std::vector<const ExactTensor*> operands;
      for (WeightId arg : expr.args) operands.push_back(arg == WeightId::none ? nullptr : &weight(arg));
      value = evaluate_exactly(expr.kind, tables_.attrs(expr.attrs), operands,
                               tables_.type(expr.type))[expr.kind == OpKind::split ? expr.output : 0];
    }
    return weights_.emplace(id, std::move(value)).first->second;
  }

  const graph::Graph& graph_;
  const graph::Tables& tables_;
  std::map<graph::Value, ExactTensor> values_;
  std::unordered_map<WeightId, ExactTensor> weights_;
};

}  // namespace

std::vector<ExactTensor> run_exactly(const graph::Graph& graph, const ExactInputMap& inputs) {
  return Evaluation(graph).run(inputs);
}

}
