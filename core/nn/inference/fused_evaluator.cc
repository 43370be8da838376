#include <algorithm>
#include <cmath>

#include "core/nn/fused/fused_model.h"
#include "core/nn/inference/evaluator.h"
#include "core/nn/training/graph_batch.h"

namespace regraft::nn::internal {
namespace {

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

std::vector<float> rule_rows(const Weights& weights, const env::RuleFeatureTable& rules, std::size_t width) {
  auto hidden = affine(rules.features, weights.tensor("rule.weight1"), weights.tensor("rule.bias1"),
                       env::kRuleFeatures, width);
  for (auto& value : hidden) value = std::max(value, 0.0f);
  const auto embedded =
      affine(hidden, weights.tensor("rule.weight2"), weights.tensor("rule.bias2"), width, width);
  return affine(embedded, weights.tensor("pointer.rule"), {}, width, width);
}

/// Scores to log-probabilities, with sums in double.
std::vector<float> log_softmax(std::span<const float> scores) {
  const double highest = *std::ranges::max_element(scores);
  double sum = 0;
  for (const float score : scores) sum += std::exp(static_cast<float>(score - highest));
  const double shift = highest + std::log(sum);
  std::vector<float> out(scores.size());
  for (std::size_t i = 0; i < scores.size(); ++i) out[i] = static_cast<float>(scores[i] - shift);
  return out;
}

/// One row through the layers NAME.weight1, [NAME.weight2,] NAME.output of a perceptron.
std::vector<float> perceptron(const Weights& weights, const std::string& name, std::span<const float> x,
                              int hidden_layers) {
  std::vector<float> row(x.begin(), x.end());
  const auto layer = [&](const std::string& matrix, const std::string& bias) {
    const auto shift = weights.tensor(name + bias);
    row = affine(row, weights.tensor(name + matrix), shift, row.size(), shift.size());
  };
  for (int i = 1; i <= hidden_layers; ++i) {
    layer(".weight" + std::to_string(i), ".bias" + std::to_string(i));
    for (auto& value : row) value = std::max(value, 0.0f);
  }
  layer(".output", ".output_bias");
  return row;
}

/// Fills the log-probabilities of both halves: rules among those that have candidates, then locations of
/// each.
void decide_in_halves(std::span<const float> logits, std::span<const float> scores,
                      std::span<const std::uint16_t> rules, Evaluation& evaluation) {
  std::vector<float> legal;
  std::vector<std::size_t> begins;  // of each legal rule's candidates
  for (std::size_t row = 0; row < rules.size(); ++row) {
    if (row > 0 && rules[row] == rules[row - 1]) continue;
    legal.push_back(logits[rules[row]]);
    begins.push_back(row);
  }
  begins.push_back(rules.size());
  const std::vector<float> chosen = log_softmax(legal);
  for (std::size_t pair = 0; pair < chosen.size(); ++pair) {
    const auto located = log_softmax(scores.subspan(begins[pair], begins[pair + 1] - begins[pair]));
    for (const float location : located) {
      evaluation.rule_log_probabilities.push_back(chosen[pair]);
      evaluation.location_log_probabilities.push_back(location);
      evaluation.log_probabilities.push_back(chosen[pair] + location);
    }
  }
}

class FusedEvaluator : public Evaluator {
 public:
  FusedEvaluator(const NetworkConfig& config, FusedForward forward) : model_(config), forward_(forward) {}

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
    check(observation, model_.config().node_kinds, rules_.rule_count);
    check_actions(model_.config(), observation.action_mode);
    const FusedGraph graph = fused_graph(observation, candidate_rules_);
    const FusedRows& rows = arena_.prepare(graph, model_.config(), Tape::none);
    forward_(model_.weights(), graph, rows);
    const std::span globals(final_globals(model_.weights(), rows), model_.config().width);
    scores_.assign(rows.scores, rows.scores + graph.candidates);
    log_priors_.clear();
    append_log_priors(log_priors_, observation);
    for (std::size_t row = 0; row < log_priors_.size(); ++row) scores_[row] += log_priors_[row];
    const std::span<const float> scores = scores_;
    Evaluation evaluation;
    if (model_.config().head == Head::pointer) {
      evaluation.value = perceptron(weights_, "value", globals, 1).front();
      evaluation.log_probabilities = log_softmax(scores);
    } else {
      evaluation.value = perceptron(weights_, "value", globals, 2).front();
      decide_in_halves(perceptron(weights_, "xfer", globals, 2), scores, observation.candidate_rules,
                       evaluation);
    }
    return evaluation;
  }
  void bind() {
    if (weights_.values.empty() || rules_.features.empty()) return;
    model_.set_weights(weights_.values);
    if (model_.config().head == Head::pointer)
      model_.set_rule_rows(rule_rows(weights_, rules_, model_.config().width));
  }

  FusedModel model_;
  FusedForward forward_;
  Weights weights_;
  env::RuleFeatureTable rules_;
  std::vector<std::uint16_t> candidate_rules_;
  std::vector<float> scores_, log_priors_;
  FusedArena arena_;
};

}  // namespace

std::unique_ptr<Evaluator> make_fused_evaluator(const NetworkConfig& config) {
  const FusedForward forward = best_kernels(config).forward;
  if (forward == nullptr) return nullptr;
  return std::make_unique<FusedEvaluator>(config, forward);
}

}
