#pragma once

#include <memory>
#include <span>
#include <vector>

#include "core/env/observation.h"
#include "core/nn/inference/policy.h"
#include "core/nn/model/world_model.h"

namespace regraft::nn {

/// Observations to standardised latents, as frozen with a world model. The same bits in a batch as alone
/// where the fused kernels have the network's width. Not thread-safe.
class Encoder {
 public:
  /// Copies what it needs. Throws NnError where weights and config do not fit, and as Policy does where
  /// device or engine cannot be had.
  Encoder(const WorldModelConfig& config, const Weights& encoder, const LatentStatistics& latents,
          const PolicyOptions& options = {.device = "cpu"});
  explicit Encoder(const WorldModel& world) : Encoder(world.config, world.encoder, world.latents) {}
  ~Encoder();
  Encoder(Encoder&&) noexcept;
  Encoder& operator=(Encoder&&) noexcept;

  /// [observations * latent]. Throws NnError on an observation that does not fit the network.
  std::vector<float> encode(std::span<const env::Observation* const> observations);
  std::vector<float> encode(const env::Observation& observation);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}
