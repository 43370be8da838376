#pragma once

#include <torch/types.h>

#include "core/base/rng.h"
#include "core/nn/model/dynamics.h"
#include "core/nn/training/flat_parameters.h"

namespace regraft::nn::training {

/// What the model says of the step from (z, a), given all before it; `...` are the leading dims of the input.
struct DynamicsOutput {
  torch::Tensor log_weights;  // [..., mixtures], normalised
  torch::Tensor mean, sigma;  // [..., mixtures, latent]; sigma above the floor
  torch::Tensor reward;       // [...]
  torch::Tensor terminal;     // [...] logit
  torch::Tensor rules;        // [..., rules] logits of the next state's mask
  torch::Tensor counts;       // [..., rules, count_bins] logits of the next state's location counts
};

/// Hidden and cell state, [batch, hidden] each.
struct RecurrentState {
  torch::Tensor hidden, cell;
};

/// Random numbers of draws from mixtures: one [time, batch] for the component, one [.., latent] for each dim.
struct LatentDraws {
  torch::Tensor shares, deviations;
};

/// The LSTM (Hochreiter and Schmidhuber 1997; gates i, f, g, o) with its head:
///   c' = f c + i g,  h' = o tanh(c'),  head = h' W + b.
/// Not thread-safe.
class MdnRnn {
 public:
  MdnRnn(const DynamicsConfig& config, torch::Device device, torch::ScalarType type = torch::kFloat32);

  /// Throws NnError when they are not of this config.
  void load(const Weights& weights);
  Weights store() const { return parameters_.store(); }

  RecurrentState initial_state(std::int64_t batch) const;
  /// One step: z [batch, latent], a [batch, action]. `state` becomes the next one.
  DynamicsOutput step(const torch::Tensor& z, const torch::Tensor& a, RecurrentState& state) const;
  /// A sequence: z [time, batch, latent], a [time, batch, action], outputs with leading dims [time, batch].
  /// Where `starts` [time, batch] is 1, not 0, an episode begins: the state before that step is the initial
  /// one.
  DynamicsOutput unroll(const torch::Tensor& z, const torch::Tensor& a, const torch::Tensor& starts) const;
  /// The hidden states after each step of the same, [time, batch, hidden], for other heads than its own.
  torch::Tensor unroll_hidden(const torch::Tensor& z, const torch::Tensor& a,
                              const torch::Tensor& starts) const;

  /// For sampled_latents(), in the order of sample(), on its device.
  LatentDraws draws(std::int64_t time, std::int64_t batch, Rng& rng) const;
  /// What the model itself draws (tau 1) where it is told z at the starts of episodes, and in the first row,
  /// alone: [time, batch, latent], to be unrolled in place of z. No gradient.
  torch::Tensor sampled_latents(const torch::Tensor& z, const torch::Tensor& a, const torch::Tensor& starts,
                                const LatentDraws& draws) const;

  FlatParameters& parameters() { return parameters_; }
  const DynamicsConfig& config() const { return config_; }

 private:
  void advance(const torch::Tensor& gates_from_input, RecurrentState& state) const;
  DynamicsOutput head(const torch::Tensor& hidden) const;
  DynamicsOutput mixture(const torch::Tensor& hidden) const;

  DynamicsConfig config_;
  torch::Device device_;
  torch::ScalarType type_;
  FlatParameters parameters_;
};

/// -log p(target) of the mixture, [...]; target [..., latent]. No gradient flows into the target: a latent
/// that is trained by the likelihood collapses.
torch::Tensor negative_log_likelihood(const DynamicsOutput& output, const torch::Tensor& target);

/// One draw for each row of an output with leading dims [batch]: [batch, latent]. `chosen`, if given, becomes
/// the component of each row.
torch::Tensor sample(const DynamicsOutput& output, const SampleOptions& options, Rng& rng,
                     std::vector<std::int64_t>* chosen = nullptr);

/// What a step's heads are to say; `valid` is 0 for padding, which adds nothing to any loss or gradient (what
/// stands there must be finite).
struct DynamicsTargets {
  torch::Tensor valid;     // [...] 0 or 1
  torch::Tensor latent;    // [..., latent] of the next state
  torch::Tensor reward;    // [...]
  torch::Tensor terminal;  // [...] 0 or 1
  torch::Tensor rules;     // [..., rules] 0 or 1: the next state's mask
  torch::Tensor counts;    // [..., rules] bins (int64) of its location counts; read where the mask is 1
};

/// Means over the valid steps. After a terminal step there is no next state: its latent, mask and counts are
/// left out. Where these steps are a part of a batch, means are over the steps of all of it, `whole`: the
/// losses of its parts then add up to its own. Null: they are all.
struct DynamicsLosses {
  torch::Tensor latent;    // nats a dimension
  torch::Tensor reward;    // squared error
  torch::Tensor terminal;  // nats
  torch::Tensor rules;     // nats a rule
  torch::Tensor counts;    // nats a legal rule
};
DynamicsLosses losses(const DynamicsOutput& output, const DynamicsTargets& targets,
                      const DynamicsTargets* whole = nullptr);

}
