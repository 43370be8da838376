#pragma once

#include <vector>

#include "core/base/rng.h"
#include "core/graph/evaluate.h"
#include "core/graph/graph.h"

namespace regraft::graph {

/// Builds small graphs as examples: inputs, random weights, operations in canonical form.
class GraphBuilder {
 public:
  explicit GraphBuilder(std::uint64_t seed = 1) : graph_(tables_), rng_(seed, "graph-builder") {}

  Graph& graph() { return graph_; }
  Tables& tables() { return tables_; }
  Rng& rng() { return rng_; }

  Value input(std::vector<std::int64_t> dims, DType dtype = DType::float32) {
    return {graph_.add_input(tables_.intern(dtype, dims), inputs_++), 0};
  }

  /// Elements uniform in [low, high), as float32.
  Value weight(const std::vector<std::int64_t>& dims, double low = -1, double high = 1) {
    std::int64_t count = 1;
    for (std::int64_t d : dims) count *= d;
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& v : values) v = static_cast<float>(rng_.uniform(low, high));
    return literal(dims, values);
  }
  Value literal(const std::vector<std::int64_t>& dims, const std::vector<float>& values) {
    const auto type = tables_.intern(DType::float32, dims);
    return graph_.weight_value(tables_.weights().literal(type, std::as_bytes(std::span(values))));
  }
  Value scalar(double value) { return graph_.weight_value(tables_.weights().scalar(DType::float32, value)); }
  Value integers(std::vector<std::int64_t> values) {
    return graph_.weight_value(tables_.weights().integers(values));
  }
  Value integers(const std::vector<std::int64_t>& dims, const std::vector<std::int64_t>& values,
                 DType dtype = DType::int64) {
    HostTensor host;
    host.dtype = dtype;
    host.dims = dims;
    host.integer = values;
    const auto type = tables_.intern(dtype, dims);
    return graph_.weight_value(tables_.weights().literal(type, host.to_bytes()));
  }
  Value integer(std::int64_t value) {
    return graph_.weight_value(tables_.weights().scalar(DType::int64, static_cast<double>(value)));
  }

  NodeId node(OpKind kind, std::vector<Value> inputs, AttrBlock attrs = {}) {
    InlineVector<Operand, 4> operands = operands_of(graph_, inputs);
    attrs = canonical_attrs(tables_, kind, attrs, operands);
    inputs.resize(operands.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      if (!operands[i].present) inputs[i] = {};
    }
    return graph_.add(kind, tables_.intern(attrs), inputs);
  }
  Value op(OpKind kind, std::vector<Value> inputs, AttrBlock attrs = {}) {
    return {node(kind, std::move(inputs), std::move(attrs)), 0};
  }
  void output(Value value) { graph_.add_output(value); }

 private:
  Tables tables_;
  Graph graph_;
  Rng rng_;
  std::int32_t inputs_ = 0;
};

}
