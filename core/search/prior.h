#pragma once

#include <string>
#include <vector>

#include "core/env/observation.h"

namespace regraft::search {

/// What orders the candidates of a state: a trained policy (wrapped where LibTorch is allowed), or a plain
/// distribution.
class Prior {
 public:
  virtual ~Prior() = default;
  /// One log-probability a candidate, NO-OP last; they sum to 1 as probabilities.
  virtual std::vector<float> log_probabilities(const env::Observation& observation) = 0;
  virtual std::string name() const = 0;
};

/// The prior's answer; throws SearchError where it is not one number a candidate.
std::vector<float> ask(Prior& prior, const env::Observation& observation);

/// The random collector: NO-OP with `noop_probability` (always where nothing else is legal), else uniform
/// over the legal xfers and then over the locations of the chosen one.
class UniformPrior : public Prior {
 public:
  explicit UniformPrior(double noop_probability = 0.2) : noop_probability_(noop_probability) {}
  std::vector<float> log_probabilities(const env::Observation& observation) override;
  std::string name() const override { return "uniform"; }

 private:
  double noop_probability_;
};

}  // namespace regraft::search
