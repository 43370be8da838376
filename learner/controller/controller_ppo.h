#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/nn/model/controller_config.h"
#include "learner/job/replica.h"
#include "learner/ppo/ppo_metrics.h"
#include "learner/ppo/ppo_options.h"
#include "replay/dream/dream_segment.h"

namespace regraft::learner {

/// PPO in two half-steps for the hierarchical controller of a world model's state: what Ppo is to policies of
/// graphs. One thread; on the CPU with one torch thread two runs over the same segments give the same bits.
/// Errors are nn::NnError: a step that does not fit the controller, a loss that is not finite (all is then as
/// it was before that update).
class ControllerPpo : public Replica {
 public:
  /// `seed` keys the order of minibatches. `device`: auto, cpu or cuda.
  ControllerPpo(const nn::ControllerConfig& config, const nn::Weights& weights, const PpoOptions& options,
                std::uint64_t seed, const std::string& device = "cpu");
  ~ControllerPpo() override;
  void share_with(std::shared_ptr<wire::Group> group) override;
  /// `data` is what encode_controller_update() made. Throws replay::ReplayError, too.
  void follow(std::span<const std::byte> data) override;

  /// All epochs over these segments; afterwards version() is one higher. The proximal policy and all values
  /// are recomputed first; advantages are of whole episodes, whose segments follow each other
  /// (replay::goes_on()). Segments must not be empty.
  PpoMetrics update(std::span<const replay::DreamSegment> segments);

  /// From now on learning rate and entropy bonus are this share (0 to 1) of the options'.
  void anneal(double share);

  /// The version of the weights: 1 + updates, as on the wire, where 0 means none.
  std::uint64_t version() const;
  nn::Weights weights() const;
  std::vector<float> values() const override { return weights().values; }
  const nn::ControllerConfig& config() const;

  /// Weights, optimiser state, random stream and version: a controller that is restored goes on to the bit.
  std::vector<std::byte> save() const;
  /// Throws replay::ReplayError or nn::NnError; this object is then unchanged.
  void restore(std::span<const std::byte> bytes) override;

 private:
  class State;
  std::unique_ptr<State> state_;
};

/// For follow(): update() of these, after anneal() of this share.
std::vector<std::byte> encode_controller_update(double share, std::span<const replay::DreamSegment> segments);

}
