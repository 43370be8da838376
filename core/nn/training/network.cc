#include "core/nn/training/network.h"

#include "core/nn/model/nn_error.h"
#include "core/nn/training/device_tensor.h"

namespace regraft::nn::training {
namespace {

using torch::Tensor;

constexpr double kNormEpsilon = 1e-5;

Tensor to_tensor(const std::vector<float>& values, std::int64_t columns, torch::Device device,
                 torch::ScalarType type) {
  const auto rows = static_cast<std::int64_t>(values.size()) / columns;
  return aliased(values, {rows, columns}, device).to(type);
}

Tensor affine(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  return torch::addmm(bias, x, weight);
}

}  // namespace

CandidateTensors::CandidateTensors(const CandidateGroups& groups, torch::Device device)
    : graph(to_rows(groups.graph, device)),
      pair(to_rows(groups.pair, device)),
      pair_graph(to_rows(groups.pair_graph, device)),
      rules(aliased(groups.rules, {static_cast<std::int64_t>(groups.rules.size())}, device)) {
  if (groups.log_priors.empty()) return;
  log_priors = aliased(groups.log_priors, {static_cast<std::int64_t>(groups.log_priors.size())}, device);
}

BatchTensors::BatchTensors(GraphBatch batch, torch::Device device, torch::ScalarType type)
    : host(std::move(batch)), groups(host.groups, device) {
  node_kind = to_rows(host.node_kind, device);
  sender = to_rows(host.sender, device);
  receiver = to_rows(host.receiver, device);
  node_graph = to_rows(host.node_graph, device);
  edge_graph = to_rows(host.edge_graph, device);
  candidate_rule = to_rows(host.candidate_rule, device);
  matched_candidate = to_rows(host.matched_candidate, device);
  matched_node = to_rows(host.matched_node, device);
  root_candidate = to_rows(host.root_candidate, device);
  root_node = to_rows(host.root_node, device);
  const auto matrix = [&](const std::vector<float>& values, std::size_t columns) {
    return to_tensor(values, static_cast<std::int64_t>(columns), device, type);
  };
  node_features = matrix(host.node_features, env::kNodeFeatures);
  edge_features = matrix(host.edge_features, env::kEdgeFeatures);
  globals = matrix(host.globals, env::kGlobalFeatures);
  outgoing_scale = matrix(host.outgoing_scale, 1);
  incoming_scale = matrix(host.incoming_scale, 1);
  node_count_inverse = matrix(host.node_count_inverse, 1);
  edge_count_inverse = matrix(host.edge_count_inverse, 1);
  matched_inverse = matrix(host.matched_inverse, 1);
}

Network::Network(const NetworkConfig& config, torch::Device device, torch::ScalarType type)
    : config_(config), device_(device), type_(type), weights_(weight_layout(config), device, type) {}

void Network::load(const Weights& weights) {
  check(weights, config_);
  weights_.load(weights);
}

Tensor Network::norm_relu(const Tensor& input, const std::string& prefix) const {
  return torch::layer_norm(torch::relu(input), {config_.width}, weight(prefix + ".gain"),
                           weight(prefix + ".shift"), kNormEpsilon);
}

Tensor Network::input(const Tensor& features, const std::string& prefix) const {
  return affine(features, weight(prefix + ".weight"), weight(prefix + ".bias"));
}

Encoding Network::encode(const BatchTensors& batch) const {
  const std::int64_t width = config_.width;
  auto nodes =
      norm_relu(input(batch.node_features, "node_input") + gather(weight("node_input.kind"), batch.node_kind),
                "node_input");
  auto edges = norm_relu(input(batch.edge_features, "edge_input"), "edge_input");
  auto globals = norm_relu(input(batch.globals, "global_input"), "global_input");
  for (std::uint32_t step = 0; step < config_.steps; ++step) {
    const std::string prefix = "step" + std::to_string(step);
    const auto parts = nodes.mm(weight(prefix + ".node_parts"));
    const auto from_global = affine(globals, weight(prefix + ".edge.global"), weight(prefix + ".edge.bias"));
    edges = edges + norm_relu(edges.mm(weight(prefix + ".edge.own")) +
                                  gather(parts.narrow(1, 0, width), batch.sender) +
                                  gather(parts.narrow(1, width, width), batch.receiver) +
                                  gather(from_global, batch.edge_graph),
                              prefix + ".edge");
    const auto messages = torch::cat({segment_sum(edges, batch.receiver) * batch.incoming_scale,
                                      segment_sum(edges, batch.sender) * batch.outgoing_scale},
                                     1);
    const auto to_nodes = affine(globals, weight(prefix + ".node.global"), weight(prefix + ".node.bias"));
    nodes =
        nodes + norm_relu(parts.narrow(1, 2 * width, width) + messages.mm(weight(prefix + ".node.messages")) +
                              gather(to_nodes, batch.node_graph),
                          prefix + ".node");
    const auto means = torch::cat({globals, segment_sum(nodes, batch.node_graph) * batch.node_count_inverse,
                                   segment_sum(edges, batch.edge_graph) * batch.edge_count_inverse},
                                  1);
    globals =
        globals + norm_relu(affine(means, weight(prefix + ".global.parts"), weight(prefix + ".global.bias")),
                            prefix + ".global");
  }
  return {nodes, globals};
}

Tensor Network::rule_rows(const Tensor& rules) const {
  const auto hidden = torch::relu(affine(rules, weight("rule.weight1"), weight("rule.bias1")));
  return affine(hidden, weight("rule.weight2"), weight("rule.bias2")).mm(weight("pointer.rule"));
}

Tensor Network::scores(const BatchTensors& batch, const Encoding& encoding, const Tensor& rules) const {
  const bool bound = config_.head == Head::hierarchical;
  const std::string head = bound ? "location" : "pointer";
  const auto rule = bound ? weight("location.xfer") : rule_rows(rules);
  const auto graph = affine(encoding.globals, weight(head + ".graph"), weight(head + ".bias1"));
  const auto roots = gather(encoding.nodes.mm(weight(head + ".root")), batch.root_node);
  const auto matched = gather(encoding.nodes.mm(weight(head + ".matched")), batch.matched_node);
  const auto hidden = torch::relu(gather(rule, batch.candidate_rule) + gather(graph, batch.groups.graph) +
                                  segment_sum(roots, batch.root_candidate) +
                                  segment_sum(matched, batch.matched_candidate) * batch.matched_inverse);
  return torch::relu(affine(hidden, weight(head + ".weight2"), weight(head + ".bias2")))
      .mm(weight(head + ".output"))
      .squeeze(1);
}

/// From the first hidden layer, before its relu, to the outputs.
Tensor Network::perceptron(const Tensor& first, const std::string& prefix) const {
  const auto second = affine(torch::relu(first), weight(prefix + ".weight2"), weight(prefix + ".bias2"));
  return affine(torch::relu(second), weight(prefix + ".output"), weight(prefix + ".output_bias"));
}

Tensor Network::values(const Tensor& globals) const {
  const auto first = affine(globals, weight("value.weight1"), weight("value.bias1"));
  if (config_.head == Head::hierarchical) return perceptron(first, "value").squeeze(1);
  return affine(torch::relu(first), weight("value.output"), weight("value.output_bias")).squeeze(1);
}

Tensor Network::rule_values(const Tensor& globals, const Tensor& rules) const {
  const auto first = affine(globals, weight("xfer_value.weight1"), weight("xfer_value.bias1"));
  return perceptron(first + weight("xfer_value.xfer").index_select(0, rules), "xfer_value").squeeze(1);
}

PolicyOutput Network::decide(const CandidateTensors& groups, const Tensor& raw_scores,
                             const Tensor& globals) const {
  PolicyOutput output;
  output.values = values(globals);
  const auto scores =
      groups.log_priors.defined() ? raw_scores + groups.log_priors.to(raw_scores.scalar_type()) : raw_scores;
  if (config_.head == Head::pointer) {
    output.log_probabilities = segment_log_softmax(scores, groups.graph);
    return output;
  }
  // Rules that are not legal in a graph are no pair of it: masked before the softmax.
  const auto logits = perceptron(affine(globals, weight("xfer.weight1"), weight("xfer.bias1")), "xfer");
  const auto cells = groups.pair_graph.group.to(torch::kInt64) * logits.size(1) + groups.rules;
  output.rule_log_probabilities =
      segment_log_softmax(logits.reshape({-1}).index_select(0, cells), groups.pair_graph);
  output.location_log_probabilities = segment_log_softmax(scores, groups.pair);
  output.log_probabilities = gather(output.rule_log_probabilities.unsqueeze(1), groups.pair).squeeze(1) +
                             output.location_log_probabilities;
  return output;
}

PolicyOutput Network::forward(const BatchTensors& batch, const Tensor& rules) const {
  const auto encoding = encode(batch);
  return decide(batch.groups, scores(batch, encoding, rules), encoding.globals);
}

Tensor rule_tensor(const env::RuleFeatureTable& rules, torch::Device device, torch::ScalarType type) {
  if (rules.features.size() != rules.rows() * env::kRuleFeatures) {
    throw NnError("its size does not fit its rule count", "rule feature table", "");
  }
  return to_tensor(rules.features, env::kRuleFeatures, device, type).clone();
}

}
