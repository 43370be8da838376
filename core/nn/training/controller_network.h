#pragma once

#include <torch/types.h>

#include "core/nn/model/controller_config.h"
#include "core/nn/training/flat_parameters.h"

namespace regraft::nn::training {

/// Steps of a hierarchical controller, as it saw and took them.
struct ControllerSteps {
  torch::Tensor states;     // [n, state]
  torch::Tensor legal;      // [n, rules] bool; NO-OP's is 1
  torch::Tensor rules;      // [n] int64: chosen
  torch::Tensor counts;     // [n] int64: locations of the chosen rule, at most `locations`; 1 for NO-OP
  torch::Tensor locations;  // [n] int64: chosen

  std::int64_t size() const { return states.size(0); }
};

struct ControllerOutput {
  torch::Tensor log_rule, log_location;          // [n] of what was chosen; a NO-OP's location has 0
  torch::Tensor rule_entropy, location_entropy;  // [n] nats
  torch::Tensor value, rule_value;               // [n] V1(s), V2(s, rule)
};

/// The hierarchical controller with gradients, for whoever trains it. Not thread-safe.
class ControllerNetwork {
 public:
  ControllerNetwork(const ControllerConfig& config, torch::Device device,
                    torch::ScalarType type = torch::kFloat32);

  /// Throws NnError when they are not of this config.
  void load(const Weights& weights);
  Weights store() const { return parameters_.store(); }
  ControllerOutput forward(const ControllerSteps& steps) const;
  /// V1 alone.
  torch::Tensor values(const torch::Tensor& states) const;

  FlatParameters& parameters() { return parameters_; }
  const ControllerConfig& config() const { return config_; }
  torch::Device device() const { return device_; }

 private:
  torch::Tensor hidden(const torch::Tensor& states, const char* part) const;
  torch::Tensor last(const torch::Tensor& hidden, const char* part) const;

  ControllerConfig config_;
  torch::Device device_;
  FlatParameters parameters_;
};

}
