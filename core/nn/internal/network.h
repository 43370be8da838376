#pragma once

#include <torch/torch.h>

#include <string>

#include "core/env/observation.h"
#include "core/nn/graph_batch.h"
#include "core/nn/internal/flat_parameters.h"
#include "core/nn/internal/rows.h"
#include "core/nn/weights.h"

namespace regraft::nn::internal {

/// A GraphBatch on a device. On the CPU the tensors alias the arrays it owns, also those that autograd keeps:
/// it must outlive the backward pass.
class BatchTensors {
 public:
  BatchTensors(GraphBatch batch, torch::Device device, torch::ScalarType type = torch::kFloat32);
  // The tensors point into the arrays, which a move keeps in place.
  BatchTensors(BatchTensors&&) = default;
  BatchTensors(const BatchTensors&) = delete;
  BatchTensors& operator=(const BatchTensors&) = delete;

  GraphBatch host;
  Rows node_kind, sender, receiver, node_graph, edge_graph;
  Rows candidate_rule, candidate_graph, matched_candidate, matched_node, root_candidate, root_node;
  torch::Tensor node_features, edge_features, globals;   // [n, 16], [e, 4], [g, 8]
  torch::Tensor outgoing_scale, incoming_scale;          // [n, 1]
  torch::Tensor node_count_inverse, edge_count_inverse;  // [g, 1]
  torch::Tensor matched_inverse;                         // [c, 1]
};

struct Encoding {
  torch::Tensor nodes;    // [n, w]
  torch::Tensor globals;  // [g, w]
};

struct PolicyOutput {
  torch::Tensor log_probabilities;  // [c], a distribution over the candidates of each graph
  torch::Tensor values;             // [g]
};

/// The policy network: full graph-network blocks (Battaglia et al. 2018, algorithm 1) with residual updates
///   e' = e + LN(relu(e We + v[s] Ws + v[r] Wr + u Wg + b))
///   v' = v + LN(relu(v Wv + [in | out] Wm + u Wg + b)),  in, out: sums of e' scaled by 1 / sqrt(degree)
///   u' = u + LN(relu([u | mean v' | mean e'] W + b))
/// and the pointer head (Vinyals et al. 2015) over candidates:
///   h = relu(v[root] Wr + mean v[matched] Wm + rule Wq + u Wg + b1),  score = relu(h W2 + b2) w3.
/// All parameters live in one flat buffer in the order of weight_layout(), and so do their gradients. Not
/// thread-safe.
class Network {
 public:
  Network(const NetworkConfig& config, torch::Device device, torch::ScalarType type = torch::kFloat32);

  void load(const Weights& weights);
  Weights store() const { return weights_.store(); }
  /// `rules`: [rule_count + 1, kRuleFeatures] on the same device.
  PolicyOutput forward(const BatchTensors& batch, const torch::Tensor& rules) const;
  /// Embeddings after the last step, without the heads.
  Encoding encode(const BatchTensors& batch) const;
  /// The rules' part of the pointer head's hidden rows: [rule_count + 1, w].
  torch::Tensor rule_rows(const torch::Tensor& rules) const;

  /// Flat [parameters], outside autograd: the optimiser writes the first and reads the second.
  torch::Tensor& parameters() { return weights_.values(); }
  torch::Tensor& gradients() { return weights_.gradients(); }
  const NetworkConfig& config() const { return config_; }
  torch::Device device() const { return device_; }
  torch::ScalarType type() const { return type_; }

 private:
  const torch::Tensor& weight(const std::string& name) const { return weights_[name]; }
  torch::Tensor norm_relu(const torch::Tensor& input, const std::string& prefix) const;
  torch::Tensor input(const torch::Tensor& features, const std::string& prefix) const;
  torch::Tensor scores(const BatchTensors& batch, const Encoding& encoding, const torch::Tensor& rules) const;
  torch::Tensor values(const Encoding& encoding) const;

  NetworkConfig config_;
  torch::Device device_;
  torch::ScalarType type_;
  FlatParameters weights_;
};

/// The rule table as a tensor on the device. Throws NnError when its size is not (rule_count + 1) rows.
torch::Tensor rule_tensor(const env::RuleFeatureTable& rules, torch::Device device,
                          torch::ScalarType type = torch::kFloat32);

}  // namespace regraft::nn::internal
