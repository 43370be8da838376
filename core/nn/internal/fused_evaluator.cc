#include <algorithm>
#include <cmath>
#include <string>

#include "core/nn/graph_batch.h"
#include "core/nn/internal/evaluator.h"
#include "core/nn/internal/fused.h"

namespace regraft::nn::internal {
namespace {

FusedForward best_forward(std::size_t width) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw")) {
    return fused_forward_avx512(width);
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return fused_forward_avx2(width);
#endif
  return fused_forward_base(width);
}

/// y = x W + b for a few rows: rule embeddings, once for each set of weights.
std::vector<float> affine(std::span<const float> x, std::span<const float> weight,
                          std::span<const float> bias, std::size_t inputs, std::size_t outputs) {
  const std::size_t rows = x.size() / inputs;
  std::vector<float> y(rows * outputs, 0.0f);
  for (std::size_t row = 0; row < rows; ++row) {
    float* to = y.data() + row * outputs;
    if (!bias.empty()) std::copy(bias.begin(), bias.end(), to);
    for (std::size_t k = 0; k < inputs; ++k) {
      for (std::size_t i = 0; i < outputs; ++i) to[i] += x[row * inputs + k] * weight[k * outputs + i];
    }
  }
  return y;
}

/// Scores to log-probabilities, in double.
void log_softmax(std::span<const float> scores, std::vector<float>& out) {
  const double highest = *std::ranges::max_element(scores);
  double sum = 0;
  for (const float score : scores) sum += std::exp(static_cast<float>(score - highest));
  const double shift = highest + std::log(sum);
  out.resize(scores.size());
  for (std::size_t i = 0; i < scores.size(); ++i) out[i] = static_cast<float>(scores[i] - shift);
}

/// Scratch rows that grow to the largest graph seen.
class Scratch {
 public:
  FusedScratch prepare(const env::Observation& observation, std::size_t width) {
    const std::size_t nodes = observation.node_count() * width;
    const auto rows = [](std::vector<float>& buffer, std::size_t count) {
      if (buffer.size() < count) buffer.resize(count);
      return buffer.data();
    };
    scale(observation.receivers, observation.node_count(), incoming_scale_);
    scale(observation.senders, observation.node_count(), outgoing_scale_);
    return {.node = rows(node_[0], nodes),
            .part_sender = rows(node_[1], nodes),
            .part_receiver = rows(node_[2], nodes),
            .part_own = rows(node_[3], nodes),
            .incoming = rows(node_[4], nodes),
            .outgoing = rows(node_[5], nodes),
            .edge = rows(edge_, observation.edge_count() * width),
            .hidden = rows(hidden_, observation.candidate_count() * width),
            .incoming_scale = incoming_scale_.data(),
            .outgoing_scale = outgoing_scale_.data(),
            .scores = rows(scores_, observation.candidate_count()),
            .value = &value_};
  }

 private:
  static void scale(std::span<const std::int32_t> ends, std::size_t nodes, std::vector<float>& out) {
    out.assign(nodes, 0.0f);
    for (const auto node : ends) out[static_cast<std::size_t>(node)] += 1;
    for (auto& degree : out) degree = degree > 0 ? 1 / std::sqrt(degree) : 0;
  }

  std::vector<float> node_[6], edge_, hidden_, scores_, incoming_scale_, outgoing_scale_;
  float value_ = 0;
};

class FusedEvaluator : public Evaluator {
 public:
  FusedEvaluator(const NetworkConfig& config, FusedForward forward) : config_(config), forward_(forward) {}

  std::vector<Evaluation> evaluate(std::span<const env::Observation* const> observations) override {
    // One graph at a time: its rows stay in the cache, and a batch gives the same bits as single graphs.
    std::vector<Evaluation> evaluations(observations.size());
    for (std::size_t i = 0; i < observations.size(); ++i) evaluations[i] = evaluate_one(*observations[i]);
    return evaluations;
  }
  void set_weights(const Weights& weights) override {
    weights_ = weights;
    bind();
  }
  void set_rules(const env::RuleFeatureTable& rules) override {
    rules_ = rules;
    bind();
  }

 private:
  Evaluation evaluate_one(const env::Observation& observation) {
    check(observation, config_.node_kinds, rules_.rule_count);
    const FusedGraph graph{.nodes = observation.node_count(),
                           .edges = observation.edge_count(),
                           .candidates = observation.candidate_count(),
                           .kinds = observation.node_kinds.data(),
                           .node_features = observation.node_features.data(),
                           .edge_features = observation.edge_features.data(),
                           .globals = observation.globals.data(),
                           .senders = observation.senders.data(),
                           .receivers = observation.receivers.data(),
                           .xfers = observation.candidate_xfers.data(),
                           .offsets = observation.candidate_offsets.data(),
                           .matched = observation.candidate_nodes.data()};
    const FusedScratch scratch = scratch_.prepare(observation, config_.width);
    forward_(bound_, graph, scratch);
    Evaluation evaluation;
    log_softmax({scratch.scores, graph.candidates}, evaluation.log_probabilities);
    evaluation.value = *scratch.value;
    return evaluation;
  }

  const float* at(const std::string& name) const { return weights_.tensor(name).data(); }
  FusedNorm norm(const std::string& prefix) const { return {at(prefix + ".gain"), at(prefix + ".shift")}; }
  void bind();
  void bind_step(const std::string& prefix, std::size_t number);
  void bind_rules();

  NetworkConfig config_;
  FusedForward forward_;
  Weights weights_;
  env::RuleFeatureTable rules_;
  std::vector<float> parts_;      // [steps, 3, w, w]: node_parts, split by column
  std::vector<float> rule_rows_;  // [rule_count + 1, w]
  std::vector<FusedStep> steps_;
  FusedWeights bound_{};
  Scratch scratch_;
};

void FusedEvaluator::bind_step(const std::string& prefix, std::size_t number) {
  const std::size_t width = config_.width;
  const std::size_t square = width * width;
  const float* all = at(prefix + ".node_parts");
  float* parts = parts_.data() + number * 3 * square;
  for (std::size_t row = 0; row < width; ++row) {
    for (std::size_t part = 0; part < 3; ++part) {
      std::copy_n(all + (row * 3 + part) * width, width, parts + part * square + row * width);
    }
  }
  const float* messages = at(prefix + ".node.messages");
  const float* global = at(prefix + ".global.parts");
  steps_[number] = {.sender = parts,
                    .receiver = parts + square,
                    .own = parts + 2 * square,
                    .edge_own = at(prefix + ".edge.own"),
                    .edge_global = at(prefix + ".edge.global"),
                    .edge_bias = at(prefix + ".edge.bias"),
                    .edge = norm(prefix + ".edge"),
                    .incoming = messages,
                    .outgoing = messages + square,
                    .node_global = at(prefix + ".node.global"),
                    .node_bias = at(prefix + ".node.bias"),
                    .node = norm(prefix + ".node"),
                    .global_own = global,
                    .global_nodes = global + square,
                    .global_edges = global + 2 * square,
                    .global_bias = at(prefix + ".global.bias"),
                    .global = norm(prefix + ".global")};
}

void FusedEvaluator::bind_rules() {
  const std::size_t width = config_.width;
  auto hidden = affine(rules_.features, weights_.tensor("rule.weight1"), weights_.tensor("rule.bias1"),
                       env::kRuleFeatures, width);
  for (auto& value : hidden) value = std::max(value, 0.0f);
  const auto embedded =
      affine(hidden, weights_.tensor("rule.weight2"), weights_.tensor("rule.bias2"), width, width);
  rule_rows_ = affine(embedded, weights_.tensor("pointer.rule"), {}, width, width);
}

void FusedEvaluator::bind() {
  if (weights_.values.empty() || rules_.features.empty()) return;
  parts_.resize(std::size_t{config_.steps} * 3 * config_.width * config_.width);
  steps_.resize(config_.steps);
  for (std::size_t number = 0; number < steps_.size(); ++number)
    bind_step("step" + std::to_string(number), number);
  bind_rules();
  bound_ = {.steps = steps_.size(),
            .step = steps_.data(),
            .kind_rows = at("node_input.kind"),
            .node_weight = at("node_input.weight"),
            .node_bias = at("node_input.bias"),
            .node_input = norm("node_input"),
            .edge_weight = at("edge_input.weight"),
            .edge_bias = at("edge_input.bias"),
            .edge_input = norm("edge_input"),
            .global_weight = at("global_input.weight"),
            .global_bias = at("global_input.bias"),
            .global_input = norm("global_input"),
            .root = at("pointer.root"),
            .matched = at("pointer.matched"),
            .graph = at("pointer.graph"),
            .pointer_bias1 = at("pointer.bias1"),
            .pointer_weight2 = at("pointer.weight2"),
            .pointer_bias2 = at("pointer.bias2"),
            .pointer_output = at("pointer.output"),
            .value_weight1 = at("value.weight1"),
            .value_bias1 = at("value.bias1"),
            .value_output = at("value.output"),
            .value_output_bias = at("value.output_bias"),
            .rule_rows = rule_rows_.data()};
}

}  // namespace

std::unique_ptr<Evaluator> make_fused_evaluator(const NetworkConfig& config) {
  const FusedForward forward = best_forward(config.width);
  if (forward == nullptr) return nullptr;
  return std::make_unique<FusedEvaluator>(config, forward);
}

}  // namespace regraft::nn::internal
