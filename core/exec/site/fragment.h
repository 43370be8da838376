#pragma once

// Internal to core/exec: lazy evaluation of values of one graph in LibTorch.

#include <torch/types.h>

#include <map>
#include <unordered_map>
#include <unordered_set>

#include "core/graph/graph.h"

namespace regraft::exec {

/// Constants of one model in fp64, each computed once; shared by the fragments of one check.
class TorchWeights {
 public:
  explicit TorchWeights(const graph::Tables& tables) : tables_(tables) {}
  const at::Tensor& value(graph::WeightId weight);

 private:
  at::Tensor compute(graph::WeightId weight);

  const graph::Tables& tables_;
  std::unordered_map<graph::WeightId, at::Tensor> values_;
};

/// Values of one graph by need. One thread; the graph must not change meanwhile.
class Fragment {
 public:
  Fragment(const graph::Graph& graph, TorchWeights& weights) : graph_(graph), weights_(weights) {}

  const graph::Graph& graph() const { return graph_; }
  /// Fixes a value: nothing before it is run for its sake.
  void set(graph::Value value, at::Tensor tensor) { known_[value] = std::move(tensor); }
  bool has(graph::Value value) const { return known_.contains(value); }
  /// Throws ExecError.
  const at::Tensor& value(graph::Value value);

 private:
  void run(graph::NodeId id);

  const graph::Graph& graph_;
  TorchWeights& weights_;
  std::map<graph::Value, at::Tensor> known_;
  std::unordered_set<graph::NodeId> done_;
};

}
