#pragma once

#include <torch/types.h>

#include <string>

#include "core/env/observation.h"
#include "core/nn/model/weights.h"
#include "core/nn/training/flat_parameters.h"
#include "core/nn/training/graph_batch.h"
#include "core/nn/training/rows.h"

namespace regraft::nn::training {

/// CandidateGroups on a device; aliases them on the CPU, as BatchTensors does.
struct CandidateTensors {
  CandidateTensors() = default;
  CandidateTensors(const CandidateGroups& groups, torch::Device device);

  Rows graph, pair, pair_graph;
  torch::Tensor rules;       // [pairs]
  torch::Tensor log_priors;  // [c], or undefined: all 0
};

/// A GraphBatch on a device. On the CPU the tensors alias the arrays it owns, also those that autograd keeps:
/// it must outlive the backward pass. Those of a GraphStore have no host arrays.
class BatchTensors {
 public:
  BatchTensors() = default;
  BatchTensors(GraphBatch batch, torch::Device device, torch::ScalarType type = torch::kFloat32);
  // The tensors point into the arrays, which a move keeps in place.
  BatchTensors(BatchTensors&&) = default;
  BatchTensors& operator=(BatchTensors&&) = default;
  BatchTensors(const BatchTensors&) = delete;
  BatchTensors& operator=(const BatchTensors&) = delete;

  GraphBatch host;
  Rows node_kind, sender, receiver, node_graph, edge_graph;
  CandidateTensors groups;
  Rows candidate_rule, matched_candidate, matched_node, root_candidate, root_node;
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
  // For a hierarchical head; its log_probabilities are the sums of these two.
  torch::Tensor rule_log_probabilities;      // [pairs], a distribution over the legal rules of each graph
  torch::Tensor location_log_probabilities;  // [c], a distribution over the candidates of each pair
};

/// The policy network: full graph-network blocks (Battaglia et al. 2018, algorithm 1) with residual updates
///   e' = e + LN(relu(e We + v[s] Ws + v[r] Wr + u Wg + b))
///   v' = v + LN(relu(v Wv + [in | out] Wm + u Wg + b)),  in, out: sums of e' scaled by 1 / sqrt(degree)
///   u' = u + LN(relu([u | mean v' | mean e'] W + b))
/// and the pointer head (Vinyals et al. 2015) over candidates:
///   h = relu(v[root] Wr + mean v[matched] Wm + rule Wq + u Wg + b1),  score = relu(h W2 + b2) w3.
/// or the hierarchical head, with perceptrons of two hidden layers on the graph's embedding u:
///   rules: P1(u), softmax over the legal ones;  V1(s): P3(u);  V2(s, x): P4(u, first layer + row of x)
///   locations of x: as the pointer's scores with a row of x for the rule's, softmax over x's candidates.
/// Scores have their log_priors() (graph_batch.h) added before either softmax over them.
/// All parameters live in one flat buffer in the order of weight_layout(), and so do their gradients. Not
/// thread-safe.
class Network {
 public:
  Network(const NetworkConfig& config, torch::Device device, torch::ScalarType type = torch::kFloat32);

  void load(const Weights& weights);
  Weights store() const { return weights_.store(); }
  /// `rules`: [RuleFeatureTable::rows(), kRuleFeatures] on the same device.
  PolicyOutput forward(const BatchTensors& batch, const torch::Tensor& rules) const;
  /// Embeddings after the last step, without the head.
  Encoding encode(const BatchTensors& batch) const;
  /// Scores of candidates [c], before the head's softmax; those of a hierarchical head are for locations
  /// alone.
  torch::Tensor scores(const BatchTensors& batch, const Encoding& encoding, const torch::Tensor& rules) const;
  /// A pointer head: the rules' part of its hidden rows [rows of the table, w].
  torch::Tensor rule_rows(const torch::Tensor& rules) const;
  /// Scores [c] and the graphs' embeddings [g, w] to what the policy says.
  PolicyOutput decide(const CandidateTensors& groups, const torch::Tensor& scores,
                      const torch::Tensor& globals) const;
  /// A hierarchical head: V2 of graphs' embeddings [m, w] and a chosen rule of each [m].
  torch::Tensor rule_values(const torch::Tensor& globals, const torch::Tensor& rules) const;

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
  torch::Tensor values(const torch::Tensor& globals) const;
  torch::Tensor perceptron(const torch::Tensor& first, const std::string& prefix) const;

  NetworkConfig config_;
  torch::Device device_;
  torch::ScalarType type_;
  FlatParameters weights_;
};

/// The rule table as a tensor on the device. Throws NnError when its size is not that of its rows.
torch::Tensor rule_tensor(const env::RuleFeatureTable& rules, torch::Device device,
                          torch::ScalarType type = torch::kFloat32);

}
