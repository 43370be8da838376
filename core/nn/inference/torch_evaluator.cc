#include "core/nn/inference/evaluator.h"
#include "core/nn/training/network.h"

namespace regraft::nn::internal {
namespace {

class TorchEvaluator : public Evaluator {
 public:
  TorchEvaluator(const NetworkConfig& config, const std::string& device)
      : network_(config, torch::Device(device)) {}

  std::vector<Evaluation> evaluate(std::span<const env::Observation* const> observations) override {
    torch::InferenceMode inference;
    for (const auto* observation : observations) check_actions(network_.config(), observation->action_mode);
    const training::BatchTensors batch(make_batch(observations, network_.config().node_kinds, rule_count_),
                                       network_.device());
    const auto output = network_.forward(batch, rules_);
    const auto values = output.values.to(torch::kCPU).contiguous();
    std::vector<Evaluation> evaluations(observations.size());
    for (std::size_t graph = 0; graph < evaluations.size(); ++graph)
      evaluations[graph].value = values.data_ptr<float>()[graph];
    const auto deal = [&](const torch::Tensor& rows, std::vector<float> Evaluation::*to) {
      const auto host = rows.to(torch::kCPU).contiguous();
      const auto& offsets = batch.host.groups.offsets;
      for (std::size_t graph = 0; graph < evaluations.size(); ++graph)
        (evaluations[graph].*to)
            .assign(host.data_ptr<float>() + offsets[graph], host.data_ptr<float>() + offsets[graph + 1]);
    };
    deal(output.log_probabilities, &Evaluation::log_probabilities);
    if (network_.config().head == Head::hierarchical) {
      deal(training::gather(output.rule_log_probabilities.unsqueeze(1), batch.groups.pair).squeeze(1),
           &Evaluation::rule_log_probabilities);
      deal(output.location_log_probabilities, &Evaluation::location_log_probabilities);
    }
    return evaluations;
  }
  void set_weights(const Weights& weights) override { network_.load(weights); }
  void set_rules(const env::RuleFeatureTable& rules) override {
    rules_ = training::rule_tensor(rules, network_.device());
    rule_count_ = rules.rule_count;
  }

 private:
  training::Network network_;
  torch::Tensor rules_;
  std::size_t rule_count_ = 0;
};

}  // namespace

std::unique_ptr<Evaluator> make_torch_evaluator(const NetworkConfig& config, const std::string& device) {
  return std::make_unique<TorchEvaluator>(config, device);
}

}
