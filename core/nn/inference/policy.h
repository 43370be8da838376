#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/rng.h"
#include "core/env/observation.h"
#include "core/nn/inference/evaluation.h"
#include "core/nn/model/config.h"
#include "core/nn/model/engine.h"
#include "core/nn/model/weights.h"

namespace regraft::nn {

/// A decision, in one half or two.
struct Choice {
  std::uint32_t candidate = 0;
  float log_probability = 0;           // of the candidate; of its rule, where the policy is hierarchical
  float location_log_probability = 0;  // of the location given the rule; 0 where there is no such decision
};

/// Draws a candidate with its probability, which is to draw a rule and then its location.
Choice sample(const Evaluation& evaluation, Rng& rng);
/// The most probable candidate, the first of equals.
Choice most_likely(const Evaluation& evaluation);

struct PolicyOptions {
  std::string device = "cpu";  // one graph at a time is slower on a GPU
  Engine engine = Engine::automatic;
};

/// Observations in, candidate log-probabilities and values out. The only way actors and searches meet a
/// network; no LibTorch type shows. Not thread-safe: one per thread; weights may be swapped between
/// evaluations.
class Policy {
 public:
  Policy(const NetworkConfig& config, const Weights& weights, const env::RuleFeatureTable& rules,
         const PolicyOptions& options = {});
  ~Policy();
  Policy(Policy&&) noexcept;
  Policy& operator=(Policy&&) noexcept;

  /// One evaluation for each observation. Throws NnError on an observation that does not fit the network or
  /// the rules.
  std::vector<Evaluation> evaluate(std::span<const env::Observation* const> observations);
  Evaluation evaluate(const env::Observation& observation);

  /// Throws NnError when they are not of this config; the old weights then stay.
  void set_weights(const Weights& weights);
  /// Rules may change between evaluations (another rule set, the same policy); a hierarchical policy takes no
  /// other number of them.
  void set_rules(const env::RuleFeatureTable& rules);

  const NetworkConfig& config() const;
  /// For example "fused cpu" or "torch cuda".
  std::string description() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}
