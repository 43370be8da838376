#pragma once

#include <cstdint>
#include <vector>

#include "core/nn/model/weights.h"

namespace regraft::nn {

/// The size of a recurrent model of a latent state's dynamics: an LSTM with a mixture-density head (Ha and
/// Schmidhuber 2018; Bishop 1994) and heads for what an environment's step reports. Two models of the same
/// config have the same weight layout.
struct DynamicsConfig {
  std::uint32_t latent = 32;      // z: dims of a state, [1, 1024]
  std::uint32_t action = 16;      // dims of an embedded action, [1, 1024]
  std::uint32_t hidden = 256;     // of the LSTM, [1, 4096]
  std::uint32_t mixtures = 8;     // diagonal Gaussians, [1, 64]
  std::uint32_t rules = 1;        // rules and NO-OP: rows of the mask and of the location counts, [1, 65535]
  std::uint32_t count_bins = 16;  // of a location count, see count_bin(), [1, 16]
  /// The likelihood of a deterministic environment has no upper bound without it. In units of z, over 0.
  double sigma_floor = 0.01;

  bool operator==(const DynamicsConfig&) const = default;
};

/// Throws NnError when a value is out of its range.
void check(const DynamicsConfig& config);

/// The tensors in their order. Gates are input, forget, cell, output, in columns of `hidden`; the columns of
/// the head are those of DynamicsOutput, in its order.
std::vector<TensorSpec> weight_layout(const DynamicsConfig& config);

/// Columns of the head: mixtures * (2 latent + 1), reward, terminal, rules, rules * count_bins.
std::size_t head_width(const DynamicsConfig& config);

/// Fresh weights: matrices uniform in +-1/sqrt(hidden), biases 0, but 1 for the forget gates (Jozefowicz et
/// al. 2015).
Weights initial_weights(const DynamicsConfig& config, std::uint64_t seed);

/// How a next latent is drawn.
struct SampleOptions {
  double tau = 1;            // divides the mixture's logits; 0: the most likely component's mean
  bool scale_sigma = false;  // sigma times sqrt(tau) as well (Ha and Schmidhuber 2018)
};

/// Bin of a location count of at least 1, the last one open, and the least count of a bin. 1 to 8 are by
/// themselves, then come half octaves: 9, 13, 17, 25, 33, ... A dream offers as many locations as that.
std::uint32_t count_bin(std::uint32_t count, std::uint32_t bins);
std::uint32_t least_count(std::uint32_t bin);

}
