#pragma once

#include <torch/torch.h>

#include <memory>
#include <span>
#include <vector>

#include "core/env/observation.h"
#include "core/nn/internal/network.h"
#include "core/nn/policy.h"

namespace regraft::nn::internal {

enum class Gradients { none, wanted };

/// One minibatch through a network and back. Its tensors belong to the trainer until the next forward().
struct TrainerOutput {
  torch::Tensor log_probabilities;                  // [c]
  torch::Tensor values;                             // [g]
  Rows candidate_graph;                             // candidate -> graph
  std::span<const std::int32_t> candidate_offsets;  // [g + 1], on the host
};

/// Runs the learner's minibatches: forward(), a scalar loss made of its output, backward(loss). One thread.
class Trainer {
 public:
  virtual ~Trainer() = default;
  /// With the network's present weights. Throws NnError on an observation that does not fit.
  virtual TrainerOutput forward(std::span<const env::Observation* const> observations,
                                Gradients gradients) = 0;
  /// Adds to network.gradients(). Once for each forward() with gradients.
  virtual void backward(const torch::Tensor& loss) = 0;
};

/// `automatic` takes the fused kernels where they have the network's width, device and type. Throws NnError
/// when `fused` is asked for and cannot be had. The network must outlive the trainer.
std::unique_ptr<Trainer> make_trainer(Network& network, const env::RuleFeatureTable& rules, Engine engine);

}  // namespace regraft::nn::internal
