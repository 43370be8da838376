#include "core/nn/inference/policy.h"

#include <algorithm>
#include <cmath>

#include "core/nn/inference/device.h"
#include "core/nn/inference/evaluator.h"
#include "core/nn/model/nn_error.h"

namespace regraft::nn {
namespace {

Choice choice_of(const Evaluation& evaluation, std::size_t candidate) {
  const bool halves = !evaluation.rule_log_probabilities.empty();
  return {.candidate = static_cast<std::uint32_t>(candidate),
          .log_probability =
              (halves ? evaluation.rule_log_probabilities : evaluation.log_probabilities)[candidate],
          .location_log_probability = halves ? evaluation.location_log_probabilities[candidate] : 0.0F};
}

}  // namespace

Choice sample(const Evaluation& evaluation, Rng& rng) {
  const auto& log_probabilities = evaluation.log_probabilities;
  if (log_probabilities.empty()) throw NnError("nothing to choose from", "sample", "");
  double left = rng.uniform();
  std::size_t last_possible = 0;
  for (std::size_t i = 0; i < log_probabilities.size(); ++i) {
    const double probability = std::exp(static_cast<double>(log_probabilities[i]));
    if (probability > 0) last_possible = i;
    left -= probability;
    if (left < 0) return choice_of(evaluation, i);
  }
  // Rounding left a sliver beyond the last candidate.
  return choice_of(evaluation, last_possible);
}

Choice most_likely(const Evaluation& evaluation) {
  const auto& log_probabilities = evaluation.log_probabilities;
  if (log_probabilities.empty()) throw NnError("nothing to choose from", "most_likely", "");
  const auto best = std::ranges::max_element(log_probabilities);
  return choice_of(evaluation, static_cast<std::size_t>(best - log_probabilities.begin()));
}

class Policy::State {
 public:
  State(const NetworkConfig& config, const PolicyOptions& options) : config_(config) {
    check(config);
    // Only "auto" and "cuda" look for a GPU, so an actor on the CPU never waits for a driver.
    device_ = resolve_device(options.device);
    if (options.engine != Engine::torch && device_ == "cpu")
      evaluator_ = internal::make_fused_evaluator(config);
    if (evaluator_) {
      engine_ = "fused";
      return;
    }
    if (options.engine == Engine::fused) {
      throw NnError("the fused engine has no kernel for this head and width " + std::to_string(config.width) +
                        " on " + device_,
                    "engine", "use engine = automatic");
    }
    evaluator_ = internal::make_torch_evaluator(config, device_);
  }

  NetworkConfig config_;
  std::string device_;
  std::string engine_ = "torch";
  std::unique_ptr<internal::Evaluator> evaluator_;
};

Policy::Policy(const NetworkConfig& config, const Weights& weights, const env::RuleFeatureTable& rules,
               const PolicyOptions& options)
    : state_(std::make_unique<State>(config, options)) {
  set_weights(weights);
  set_rules(rules);
}

Policy::~Policy() = default;
Policy::Policy(Policy&&) noexcept = default;
Policy& Policy::operator=(Policy&&) noexcept = default;

std::vector<Evaluation> Policy::evaluate(std::span<const env::Observation* const> observations) {
  if (observations.empty()) return {};
  return state_->evaluator_->evaluate(observations);
}

Evaluation Policy::evaluate(const env::Observation& observation) {
  const env::Observation* one[] = {&observation};
  return std::move(evaluate(one).front());
}

void Policy::set_weights(const Weights& weights) {
  check(weights, state_->config_);
  state_->evaluator_->set_weights(weights);
}

void Policy::set_rules(const env::RuleFeatureTable& rules) {
  if (rules.features.size() != rules.rows() * env::kRuleFeatures) {
    throw NnError("its size does not fit its rule count", "rule feature table",
                  "make it with one row a rule and NO-OP");
  }
  check_rules(state_->config_, rules.rule_count, rules.action_mode);
  state_->evaluator_->set_rules(rules);
}

const NetworkConfig& Policy::config() const {
  return state_->config_;
}

std::string Policy::description() const {
  return state_->engine_ + " " + state_->device_;
}

}
