#include "core/synth/exact_graph.h"

#include <algorithm>
#include <unordered_map>

#include "core/graph/evaluate.h"
#include "core/graph/order.h"

namespace regraft::synth {
namespace {

using graph::OpKind;
using graph::WeightId;

constexpr double kGrid = 0x1p20;
constexpr std::int64_t kLargestInteger = 4;

ExactTensor exact_of(const graph::HostTensor& tensor) {
  ExactTensor out{tensor.dtype, tensor.dims, {}};
  for (double value : tensor.real) out.values.push_back(Exact::of(value));
  for (std::int64_t value : tensor.integer) out.values.push_back(Exact::of(value));
  return out;
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
    std::vector<ExactTensor> out =
        evaluate_exactly(node.kind, tables_.attrs(node.attrs), operands, tables_.type(node.outputs[0]));
    for (std::uint32_t i = 0; i < out.size(); ++i) values_[{id, i}] = std::move(out[i]);
  }

  const ExactTensor& weight(WeightId id) {
    const auto held = weights_.find(id);
    if (held != weights_.end()) return held->second;
    const graph::WeightExpr& expr = tables_.weights()[id];
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

// Whether an input says which rows are read.
bool is_index(graph::Value value, const graph::Graph& graph) {
  const auto uses = graph.uses(value.node);
  return std::any_of(uses.begin(), uses.end(), [&](const graph::Use& use) {
    return use.user != graph::kGraphOutput && use.slot == 1 && graph.node(use.user).kind == OpKind::gather;
  });
}

std::int64_t integer(graph::DType dtype, bool indexes, Rng& rng) {
  if (dtype == graph::DType::boolean) return static_cast<std::int64_t>(rng.below(2));
  if (indexes) return -static_cast<std::int64_t>(rng.below(2));  // fits every dim
  return static_cast<std::int64_t>(rng.below(2 * kLargestInteger + 1)) - kLargestInteger;
}

}  // namespace

ExactInputMap exact_inputs(const graph::Graph& graph, Rng& rng) {
  ExactInputMap out;
  for (graph::NodeId id = 0; id < graph.id_bound(); ++id) {
    if (!graph.alive(id) || graph.node(id).kind != OpKind::input) continue;
    const graph::TensorType& type = graph.type({id, 0});
    ExactTensor tensor = ExactTensor::zeros(type.dtype, graph::Ints(type.dims.begin(), type.dims.end()));
    const bool indexes = is_index({id, 0}, graph);
    for (Exact& value : tensor.values) {
      if (!graph::is_float(type.dtype)) {
        value = Exact::of(integer(type.dtype, indexes, rng));
        continue;
      }
      const double magnitude = rng.uniform(0.2, 1.5);
      value = Exact::of(static_cast<double>(static_cast<std::int64_t>(magnitude * kGrid)) / kGrid);
      if (rng.below(3) == 0) value = -value;
    }
    out[graph.node(id).origin] = std::move(tensor);
  }
  return out;
}

std::vector<ExactTensor> run_exactly(const graph::Graph& graph, const ExactInputMap& inputs) {
  return Evaluation(graph).run(inputs);
}

}  // namespace regraft::synth
