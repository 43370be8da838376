#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/env/action.h"
#include "core/env/observation.h"

namespace regraft::search {

/// How a search came to a graph: what a prior with a memory left at the graph before, and the action that led
/// from there; both are empty where an episode begins. The prior leaves in `memory` what it will want next;
/// searches keep it with the graph and hand it on.
struct History {
  std::optional<env::Action> action;
  std::shared_ptr<const void> memory;
};

/// What orders the candidates of a state: a trained policy (wrapped where LibTorch is allowed), or a plain
/// distribution.
class Prior {
 public:
  virtual ~Prior() = default;
  /// One log-probability a candidate, NO-OP last; they sum to 1 as probabilities.
  virtual std::vector<float> log_probabilities(const env::Observation& observation, History& history) = 0;
  virtual std::string name() const = 0;
};

/// The prior's answer; throws SearchError where it is not one number a candidate. Where NO-OP alone is left
/// the prior is not asked: there may not even be a node to show it.
std::vector<float> ask(Prior& prior, const env::Observation& observation, History& history);

/// The random collector: NO-OP with `noop_probability` (always where nothing else is legal), else uniform
/// over the legal rules and then over the locations of the chosen one.
class UniformPrior : public Prior {
 public:
  explicit UniformPrior(double noop_probability = 0.2) : noop_probability_(noop_probability) {}
  std::vector<float> log_probabilities(const env::Observation& observation, History& history) override;
  std::string name() const override { return "uniform"; }

 private:
  double noop_probability_;
};

}
