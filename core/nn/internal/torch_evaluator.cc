#include "core/nn/internal/evaluator.h"
#include "core/nn/internal/network.h"

namespace regraft::nn::internal {
namespace {

class TorchEvaluator : public Evaluator {
 public:
  TorchEvaluator(const NetworkConfig& config, const std::string& device)
      : network_(config, torch::Device(device)) {}

  std::vector<Evaluation> evaluate(std::span<const env::Observation* const> observations) override {
    torch::InferenceMode inference;
    const BatchTensors batch(make_batch(observations, network_.config().node_kinds, rule_count_),
                             network_.device());
    const auto output = network_.forward(batch, rules_);
    const auto log_probabilities = output.log_probabilities.to(torch::kCPU).contiguous();
    const auto values = output.values.to(torch::kCPU).contiguous();
    const float* first = log_probabilities.data_ptr<float>();
    std::vector<Evaluation> evaluations(observations.size());
    for (std::size_t graph = 0; graph < evaluations.size(); ++graph) {
      const auto& offsets = batch.host.candidate_offsets;
      evaluations[graph].log_probabilities.assign(first + offsets[graph], first + offsets[graph + 1]);
      evaluations[graph].value = values.data_ptr<float>()[graph];
    }
    return evaluations;
  }
  void set_weights(const Weights& weights) override { network_.load(weights); }
  void set_rules(const env::RuleFeatureTable& rules) override {
    rules_ = rule_tensor(rules, network_.device());
    rule_count_ = rules.rule_count;
  }

 private:
  Network network_;
  torch::Tensor rules_;
  std::size_t rule_count_ = 0;
};

}  // namespace

std::unique_ptr<Evaluator> make_torch_evaluator(const NetworkConfig& config, const std::string& device) {
  return std::make_unique<TorchEvaluator>(config, device);
}

}  // namespace regraft::nn::internal
