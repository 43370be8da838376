#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/env/observation.h"
#include "core/nn/inference/evaluation.h"
#include "core/nn/model/config.h"
#include "core/nn/model/weights.h"

namespace regraft::nn::internal {

/// A forward pass on one kind of hardware. Policy checks arguments before they come here.
class Evaluator {
 public:
  virtual ~Evaluator() = default;
  virtual std::vector<Evaluation> evaluate(std::span<const env::Observation* const> observations) = 0;
  virtual void set_weights(const Weights& weights) = 0;
  virtual void set_rules(const env::RuleFeatureTable& rules) = 0;
};

/// `device` is "cpu" or "cuda".
std::unique_ptr<Evaluator> make_torch_evaluator(const NetworkConfig& config, const std::string& device);

/// Own kernels on the CPU, with the widest vectors the machine has. Null when no kernel is made for this
/// width.
std::unique_ptr<Evaluator> make_fused_evaluator(const NetworkConfig& config);

}
