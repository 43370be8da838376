#pragma once

// Internal to learner: shows LibTorch types.

#include <torch/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "learner/ppo/ppo_options.h"

namespace regraft::learner {

/// One kind of decision of a minibatch: at once, or the rules, or the locations. Tensors [n], one entry a
/// decision. Not tied to graphs: a policy over any state can be trained with it.
struct Decisions {
  torch::Tensor log_probability;  // log pi of what was decided, with gradients as the next two
  torch::Tensor entropy;          // of the distribution it was drawn from, nats
  torch::Tensor values;
  torch::Tensor proximal = {}, weights = {}, advantages = {}, targets = {};  // as in DecisionTargets
  torch::Tensor imitated = {};                                               // bool; undefined: none is
  std::int64_t imitated_count = 0;                                           // of these decisions
};

/// What a minibatch's sums are divided by.
struct MinibatchSize {
  std::int64_t steps = 0;     // that are not imitated
  std::int64_t imitated = 0;  // steps
};

/// Sums of what minibatches report, where they were computed: nobody waits for them before the update is
/// done. Means are over their decisions. Tensors [], float64; undefined before the first minibatch.
struct PpoSums {
  std::size_t minibatches = 0;
  torch::Tensor policy_loss, value_loss, entropy, approx_kl, clip_fraction, gradient_norm;
};

/// Adds where there is a sum already.
void add_to(torch::Tensor& sum, const torch::Tensor& more);

/// The clipped surrogate, the squared value error and the entropy bonus of all kinds of decisions together.
/// They are sums over decisions divided by the number of steps, which is that of the first kind. A kind may
/// be empty. What is imitated is not clipped: the gain is weight times advantage times log pi (Oh et al.
/// 2018). Else a very unlikely decision would take as many updates to be repeated as it takes steps of 1 +
/// clip. These gains are divided by the imitated steps and count PpoOptions::imitation times. All else is of
/// the other steps alone and divided by their number, so the terms of PPO are what they would be without
/// imitation. What is imitated has no part in the value error (it says what can be had, not what the policy
/// gets) nor in the entropy bonus (which would undo it). It has none in the divergence and the clipped share
/// of `sums`. Adds to all but minibatches and gradient_norm of those. Does not wait for the device.
///
/// Where these decisions are a part of a minibatch, `whole` has the steps of all of it: the losses of its
/// parts then add up to its own.
torch::Tensor ppo_loss(std::span<const Decisions> kinds, const PpoOptions& options,
                       double entropy_coefficient, PpoSums& sums, std::optional<MinibatchSize> whole = {});

}
