#pragma once

// Internal to learner: shows LibTorch types.

#include <torch/types.h>

#include <optional>
#include <vector>

#include "core/nn/model/world_model.h"
#include "core/nn/training/mdn_rnn.h"
#include "learner/optimiser/flat_adam.h"
#include "learner/optimiser/work_share.h"
#include "learner/world/latent_data.h"

namespace regraft::learner {

/// Means over the steps of a batch, as in nn::training::DynamicsLosses, rewards in deviations.
struct DynamicsFigures {
  double latent = 0, reward = 0, terminal = 0, rules = 0, counts = 0;
};

/// Fits the recurrent model, its action embedding and, apart and afterwards, the reward network, to the
/// latents of a frozen encoder. Sequences are laid out by replay::draw_sequences; the hidden state is reset
/// at episode starts; padding adds nothing. Learners that share the work have some lanes of each batch each.
/// One thread.
class DynamicsFit {
 public:
  /// `data` and `work` outlive it; computed on the device of the data.
  DynamicsFit(const nn::WorldModelConfig& config, const LatentData& data, const WorldOptions& options,
              const WorkShare& work);

  /// What is drawn depends on seed and number alone; learning rate and share of own latents are those of the
  /// update `rate_at`, a later one where time runs short. Throws NnError where the gradient is not finite:
  /// all is then as it was.
  DynamicsFigures update(std::uint64_t number, std::uint64_t rate_at);
  /// Over all held-out episodes, steps known up to each (teacher forcing).
  DynamicsFigures held_out() const;
  /// One update of the reward network, on hidden states of the recurrent model. No gradient flows into these.
  /// Throws as update() does.
  double reward_update(std::uint64_t number);
  /// Squared error in deviations over the held-out episodes.
  double reward_held_out() const;

  const nn::training::MdnRnn& model() const { return model_; }
  /// Embedded actions of a batch.
  torch::Tensor actions(const torch::Tensor& rule, const torch::Tensor& location) const;
  const LatentData& data() const { return data_; }

  /// In the layouts of nn::dynamics_layout() and nn::reward_layout().
  nn::Weights dynamics() const;
  nn::Weights reward() const;

  void write(replay::ByteWriter& out) const;
  /// Throws replay::ReplayError.
  void read(replay::ByteReader& in);

 private:
  torch::Tensor total(const nn::training::DynamicsLosses& losses) const;
  LatentBatch own_lanes(const LatentBatch& all) const;
  void dream_some(LatentBatch& batch, double share, Rng& rng) const;
  torch::Tensor predicted_reward(const LatentBatch& batch) const;
  std::vector<LatentBatch> held_out_batches() const;

  nn::WorldModelConfig config_;
  const LatentData& data_;
  const WorldOptions& options_;
  const WorkShare& work_;
  nn::training::MdnRnn model_;
  nn::training::FlatParameters embedding_;
  FlatAdam model_adam_, embedding_adam_;
  std::optional<nn::training::FlatParameters> reward_;
  std::optional<FlatAdam> reward_adam_;
};

}
