#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/bound_options.h"

namespace regraft::learner {

/// How a world model is gathered for and fitted. The fit is staged. First comes the encoder, by its own
/// losses and a one-step prediction of the next latent (no gradient into its target). Then, it frozen and
/// standardised, the recurrent model; then, if wanted, a reward network apart.
struct WorldOptions {
  std::uint64_t seed = 0;
  // data
  std::uint64_t collect_steps = 4000;  // of real environments, in all
  double noop = 0.2;                   // probability of NO-OP in the random collector
  std::uint32_t random_choices = 1;    // of its episodes the cheapest of 1, 2, 4, ... so many draws is taken
  std::string rollouts;                // a file of earlier ones: they count among collect_steps
  std::string policy;                  // a bundle whose controller plays this share of the episodes
  double on_policy = 0.75;
  std::uint64_t held_out_every = 10;  // of a model's episodes, each such one is never fitted to
  std::uint32_t peeks = 4;            // legal actions a state whose cost change the encoder learns
  std::uint64_t replay_mib = 256;     // of action logs in memory
  bool spill = false;                 // older ones go to the run folder, else they are dropped
  std::uint64_t cache_mib = 1024;     // of observations, beyond which they are made again at each use
  // sizes
  std::string encoder = "cpu";  // network preset
  std::uint32_t latent = 32, hidden = 256, mixtures = 8, action = 16, count_bins = 16;
  double sigma_floor = 0.05;
  // encoder
  std::uint64_t encoder_updates = 400;
  std::uint64_t encoder_states = 128;  // of one update
  double encoder_learning_rate = 2e-3;
  // recurrent model
  std::uint64_t dynamics_updates = 800;
  std::uint32_t lanes = 24, time = 100;  // of one update; time: the horizon, or ends are not fitted
  bool packed = true;                    // short episodes share a lane; else each has one
  double learning_rate = 4e-3, final_learning_rate = 2e-4;
  double learning_rate_power = 2;  // of the decay to final_learning_rate; 0: none
  double target_noise = 0.02;
  double scheduled_sampling =
      0;                   // share of the sequences that are fitted on the model's own latents, as in dreams
  double reward_unit = 0;  // of squashed rewards, nn::RewardStatistics; 0: as they are
  // reward network apart
  std::uint32_t reward_hidden = 0;  // 0: the shared head alone
  std::uint64_t reward_updates = 400;
  double reward_learning_rate = 1e-3;
  std::uint64_t evaluate_every = 50;  // updates between figures on held-out episodes
  /// A control, for tests: what is fitted to says of each step what another one met.
  bool shuffle_targets = false;
};

/// The options `world.*`.
std::vector<Option> world_options();
/// `train.seed` too.
WorldOptions world_options_from(const Config& config);

/// The rate at one of `updates` updates: final + (first - final) (1 - update / updates)^power.
double decayed_rate(const WorldOptions& options, std::uint64_t update);

}
