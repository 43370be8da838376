#pragma once

#include <array>
#include <string_view>

#include "core/base/bound_options.h"

namespace regraft::learner {

/// How data from older weights is corrected; one or the other, never both.
enum class Correction {
  decoupled,  // GAE; each decision weighted by min(ratio_limit, pi_prox / mu) (Hilton et al. 2022)
  v_trace,    // advantages and targets by V-trace (Espeholt et al. 2018)
};
constexpr std::array<std::string_view, 2> enum_names(Correction) {
  return {"decoupled", "v-trace"};
}

/// Settings of the PPO update (Schulman et al. 2017).
struct PpoOptions {
  double learning_rate = 3e-4;     // of Adam
  double value_learning_rate = 0;  // of the value functions' own layers; 0: learning_rate
  double gamma = 1;                // discount
  double lambda = 0.95;            // of GAE, or of V-trace's c
  double clip = 0.2;               // of pi / pi_prox around 1
  double value_coefficient = 0.5;  // of the squared value error
  double entropy_coefficient = 0.01;
  double gradient_norm = 0.5;  // clipped to this L2 norm
  double ratio_limit = 2;      // of pi_prox / mu
  int epochs = 4;              // passes over each update's steps
  int minibatch_steps = 64;
  bool normalise_advantages = true;
  bool normalise_by_model = false;  // each model's advantages by themselves
  Correction correction = Correction::decoupled;
  // Self-imitation (Oh et al. 2018): steps of the best episodes so far are trained on in every update, where
  // they did better than the value function expects; they count this much, the fresh steps together being 1.
  double imitation = 0;
  int imitated_episodes = 2;  // kept of each model
  int imitated_models = 8;    // in an update; of more, so many are drawn
};

/// The options `ppo.*`.
const BoundOptions<PpoOptions>& ppo_options();

}
