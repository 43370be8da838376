#pragma once

// Internal to learner: shows LibTorch types.

#include <torch/types.h>

#include <vector>

namespace regraft::learner {

/// Scales gradients, in place, to at most `most` in the L2 norm of all of them. Gives their norm before, [],
/// float64, on their device, which nobody waits for. Where it is not finite, the gradients are not either.
inline torch::Tensor clip_gradients(const std::vector<torch::Tensor>& gradients, double most) {
  torch::Tensor norm;
  for (const torch::Tensor& part : gradients) {
    const torch::Tensor own = part.norm().to(torch::kFloat64);
    norm = norm.defined() ? torch::hypot(norm, own) : own;
  }
  const torch::Tensor factor = (most / norm).clamp_max(1);
  for (const torch::Tensor& part : gradients) part.mul_(factor.to(part.scalar_type()));
  return norm;
}

}
