#pragma once

// Internal to learner: shows LibTorch types.

#include <torch/types.h>

#include <memory>
#include <string>
#include <vector>

#include "core/nn/inference/policy.h"
#include "core/nn/model/world_model.h"
#include "core/nn/training/embedding_trainer.h"
#include "core/nn/training/flat_parameters.h"
#include "learner/optimiser/flat_adam.h"
#include "learner/optimiser/work_share.h"
#include "learner/world/world_data.h"

namespace regraft::learner {

/// Means over a batch; each is of the order of 1 for a predictor that knows the mean alone.
struct EncoderLosses {
  double cost = 0;    // Huber of ln(cost / initial), in deviations
  double rules = 0;   // nats a rule
  double counts = 0;  // nats a legal rule
  double change = 0;  // Huber of the cost change of legal actions, in deviations
  double next = 0;    // squared error of the next z predicted from z and the action, in variances
  double spread = 0;  // of z's variances around 1, and its covariances
  double total = 0;
};

/// Fits the encoder of a world model:
///   states -> graph network -> raw z -> heads for cost, mask, counts; (z, action) -> cost change, next z.
/// No gradient flows into the next z as a target, and z's variances are drawn to 1 and its covariances to 0
/// (Bardes et al. 2022), so z cannot collapse to please its own prediction. The heads are dropped afterwards.
/// Learners that share the work have some graphs of each batch each; the heads, which see z of all of them,
/// are computed everywhere. One thread.
class EncoderFit {
 public:
  /// `data` and `work` outlive it.
  EncoderFit(const nn::WorldModelConfig& config, const WorldData& data, const WorldOptions& options,
             const WorkShare& work, const nn::PolicyOptions& compute);

  /// What is drawn depends on seed and number alone; the learning rate is that of the update `rate_at`.
  /// Throws NnError where the gradient is not finite: all is then as it was.
  EncoderLosses update(std::uint64_t number, std::uint64_t rate_at);
  EncoderLosses held_out();
  /// In the layout of nn::encoder_layout().
  nn::Weights encoder() const;
  /// All weights, and the scales that follow from the data.
  std::vector<float> values() const;

  void write(replay::ByteWriter& out) const;
  /// Throws replay::ReplayError.
  void read(replay::ByteReader& in);

 private:
  struct Batch;
  struct Losses;
  Batch gather(std::span<const std::size_t> episodes, Rng& rng, std::uint64_t states) const;
  torch::Tensor embed(const Batch& batch);
  void backward(const Batch& batch, const torch::Tensor& loss);
  Losses losses(const Batch& batch, const torch::Tensor& embedding) const;
  torch::Tensor layer(const torch::Tensor& x, const std::string& name) const;
  torch::Tensor head(const torch::Tensor& x, const std::string& name) const;
  torch::Tensor action(const torch::Tensor& rules, const torch::Tensor& locations) const;
  torch::Tensor graph_part(const torch::Tensor& flat) const { return flat.narrow(0, 0, graph_values_); }

  nn::WorldModelConfig config_;
  const WorldData& data_;
  const WorldOptions& options_;
  const WorkShare& work_;
  std::int64_t graph_values_;
  torch::Device device_;
  nn::training::FlatParameters parameters_;
  FlatAdam adam_;
  std::unique_ptr<nn::training::EmbeddingTrainer> embeddings_;
  nn::RewardStatistics squash_;  // of cost changes: its unit alone
  float cost_deviation_ = 1, change_deviation_ = 1;
};

}
