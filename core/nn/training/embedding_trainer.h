#pragma once

#include <torch/types.h>

#include <memory>
#include <span>

#include "core/env/observation.h"
#include "core/nn/model/config.h"
#include "core/nn/model/engine.h"

namespace regraft::nn::training {

/// Observations to graph embeddings, forward and back, for whoever trains a graph network without its policy
/// heads. Weights and gradients [parameters] are flat tensors on the trainer's device, in the order of
/// weight_layout(config). One thread.
class EmbeddingTrainer {
 public:
  virtual ~EmbeddingTrainer() = default;
  /// Graph embeddings after the last step [observations, width]: a leaf of autograd. Throws NnError on an
  /// observation that does not fit.
  virtual torch::Tensor forward(std::span<const env::Observation* const> observations,
                                const torch::Tensor& weights) = 0;
  /// Once after each forward(), when the leaf has its gradient: adds those of the weights.
  virtual void backward(torch::Tensor gradients) = 0;
};

/// `automatic` takes the fused kernels on the CPU where they have this width. Throws NnError when `fused` is
/// asked for and cannot be had.
std::unique_ptr<EmbeddingTrainer> make_embedding_trainer(const NetworkConfig& config, torch::Device device,
                                                         Engine engine);

/// What every observation must be for a graph network of this many kinds; its rules are its own matter.
void check_graphs(std::span<const env::Observation* const> observations, std::uint32_t node_kinds);

}
