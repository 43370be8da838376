#pragma once

// Internal to learner: shows LibTorch types.

#include <torch/types.h>

#include <cstddef>
#include <span>

#include "learner/ppo/ppo_options.h"

namespace regraft::learner {

/// One kind of decision of a minibatch: at once, or the xfers, or the locations. Tensors [n], one entry a
/// decision. Not tied to graphs: a policy over any state can be trained with it.
struct Decisions {
  torch::Tensor log_probability;  // log pi of what was decided, with gradients as the next two
  torch::Tensor entropy;          // of the distribution it was drawn from, nats
  torch::Tensor values;
  torch::Tensor proximal, weights, advantages, targets;  // as in DecisionTargets
  torch::Tensor imitated = {};                           // bool; undefined: none is
};

/// Sums of what minibatches report; means are over their decisions.
struct PpoSums {
  std::size_t minibatches = 0;
  double policy_loss = 0, value_loss = 0, entropy = 0, approx_kl = 0, clip_fraction = 0, gradient_norm = 0;
};

/// The clipped surrogate, the squared value error and the entropy bonus of all kinds of decisions together:
/// sums over decisions divided by the number of steps, which is that of the first kind. A kind may be empty.
/// What is imitated is not clipped: the gain is weight times advantage times log pi (Oh et al. 2018), since a
/// decision that the policy holds for very unlikely would take as many updates to be repeated as it takes
/// steps of 1 + clip to come from there. It has no part in the value error (it says what can be had, not what
/// the policy gets), in the entropy bonus (which would undo it), nor in the divergence and the clipped share
/// of `sums`. Adds to all but minibatches and gradient_norm of those.
torch::Tensor ppo_loss(std::span<const Decisions> kinds, const PpoOptions& options,
                       double entropy_coefficient, PpoSums& sums);

}  // namespace regraft::learner
