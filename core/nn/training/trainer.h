#pragma once

#include <torch/types.h>

#include <memory>
#include <span>
#include <vector>

#include "core/env/observation.h"
#include "core/nn/model/engine.h"
#include "core/nn/training/network.h"

namespace regraft::nn::training {

enum class Gradients { none, wanted };

/// What the policy says of one kind of decision, one entry a decision.
struct DecisionOutput {
  torch::Tensor log_probability;  // of what was chosen
  torch::Tensor entropy;          // of what it was chosen from, nats
  torch::Tensor values;           // before it
};

/// One minibatch through a network.
struct TrainerOutput {
  torch::Tensor log_probabilities;         // [c] of all candidates
  DecisionOutput first;                    // [g]: the candidate at once, or its rule
  DecisionOutput second;                   // [m]: the location; empty where the head has no such decision
  std::vector<std::size_t> second_graphs;  // [m]: the graphs whose chosen rule is not NO-OP
};

/// Observations that a trainer has checked and made ready for its forward passes.
class TrainerGraphs {
 public:
  virtual ~TrainerGraphs() = default;
};

/// Runs the learner's minibatches: load(), once for all epochs; forward(), a scalar loss made of its output,
/// backward(loss). One thread.
class Trainer {
 public:
  virtual ~Trainer() = default;
  /// The observations must outlive what is made of them, which only this trainer reads. Throws NnError on one
  /// that does not fit; at least one.
  virtual std::shared_ptr<const TrainerGraphs> load(
      std::span<const env::Observation* const> observations) const = 0;
  /// With the network's present weights; `rows` of the loaded observations, `chosen` a candidate of each.
  /// Throws NnError on a choice that does not fit. Does not wait for the device.
  virtual TrainerOutput forward(const TrainerGraphs& graphs, std::span<const std::size_t> rows,
                                std::span<const std::int32_t> chosen, Gradients gradients) = 0;
  /// Adds to network.gradients(). Once for each forward() with gradients.
  virtual void backward(const torch::Tensor& loss) = 0;
};

/// `automatic` takes the fused kernels where they have the network's width, device and type. Throws NnError
/// when `fused` is asked for and cannot be had. The network must outlive the trainer.
std::unique_ptr<Trainer> make_trainer(Network& network, const env::RuleFeatureTable& rules, Engine engine);

}
