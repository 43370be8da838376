#pragma once

// Internal to learner: shows LibTorch types.

#include <torch/types.h>

#include <cstdint>
#include <span>
#include <vector>

#include "learner/ppo/ppo_loss.h"
#include "learner/ppo/ppo_targets.h"

namespace regraft::learner {

/// The targets of an update's steps on a device: sent there once, and taken from there by every minibatch.
class TargetTensors {
 public:
  TargetTensors(const StepTargets& targets, torch::Device device);

  MinibatchSize size_of(std::span<const std::size_t> steps) const;
  /// What a network says of the first or second decisions of these steps, and what they are to come to.
  Decisions first(Decisions said, std::span<const std::size_t> steps) const;
  Decisions second(Decisions said, std::span<const std::size_t> steps) const;

 private:
  struct Half {
    Half(const DecisionTargets& targets, torch::Device device);
    torch::Tensor proximal, weights, advantages, targets;  // [steps]
  };
  Decisions take(const Half& half, Decisions said, std::span<const std::size_t> steps) const;

  torch::Device device_;
  Half first_, second_;
  std::vector<std::uint8_t> imitated_;  // [steps]
  torch::Tensor imitated_mask_;         // [steps] bool
};

}
