#pragma once

// Internal to learner: shows LibTorch types.

#include <torch/types.h>

#include <cstdint>
#include <span>
#include <vector>

#include "core/nn/inference/encoder.h"
#include "core/nn/training/mdn_rnn.h"
#include "learner/optimiser/work_share.h"
#include "learner/world/world_data.h"

namespace regraft::learner {

/// Sequences of a batch as tensors [time, lanes, ...] on a device; padding holds zeros.
struct LatentBatch {
  torch::Tensor z;               // [.., latent] standardised
  torch::Tensor rule, location;  // [..] int64, in the world's numbering
  torch::Tensor starts;          // [..] 1 where an episode begins
  nn::training::DynamicsTargets targets;
};

/// What the recurrent model is fitted to: the latents of a frozen encoder for all episodes, made once, and
/// the facts of their states in the world's numbering. Rewards are squashed and standardised by those of the
/// episodes that are fitted to. Learners that share the work encode some episodes each. One thread.
class LatentData {
 public:
  /// `data` and `work` outlive it. `compute`: what encodes, and where batches are laid out.
  LatentData(const WorldData& data, const nn::WorldModelConfig& config, const WorldOptions& options,
             const WorkShare& work, const nn::PolicyOptions& compute);

  /// Encodes every episode with raw statistics, freezes mean and deviation over the episodes that are fitted
  /// to, and standardises.
  void encode(const nn::Weights& encoder);
  /// The same with statistics that were frozen before.
  void encode(const nn::Weights& encoder, const nn::LatentStatistics& statistics);

  const nn::LatentStatistics& statistics() const { return statistics_; }
  const nn::RewardStatistics& rewards() const { return rewards_; }
  /// z [latent] of a state.
  std::span<const float> latent(std::size_t episode, std::uint32_t t) const;
  /// A batch of the options' lanes and time, of episodes drawn from `from` (indices of episodes) by this
  /// stream alone.
  LatentBatch draw(std::span<const std::size_t> from, Rng& rng) const;
  /// These episodes, one a lane, each from its start, at most `time` steps.
  LatentBatch lanes_of(std::span<const std::size_t> episodes, std::uint32_t time) const;
  const WorldData& data() const { return data_; }
  torch::Device device() const { return device_; }

 private:
  /// Where the targets of a step are taken from.
  struct Source {
    std::size_t episode = 0;
    std::uint32_t step = 0;
  };
  enum class Use { fitting, evaluation };
  LatentBatch fill(const replay::SequenceBatch& places, std::span<const std::size_t> from, Use use) const;
  void deal_targets();
  void standardise_rewards();

  const WorldData& data_;
  nn::WorldModelConfig config_;
  WorldOptions options_;
  const WorkShare& work_;
  nn::PolicyOptions compute_;
  torch::Device device_;
  nn::LatentStatistics statistics_;
  nn::RewardStatistics rewards_;
  std::vector<std::vector<Source>> dealt_;   // by episode and step; empty: every step has its own targets
  std::vector<std::vector<float>> latents_;  // by episode, [length + 1, latent]
  std::vector<std::vector<float>> noise_;    // by episode, [length, latent]: fixed, on targets alone
};

}
