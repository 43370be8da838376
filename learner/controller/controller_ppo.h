#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/nn/controller.h"
#include "core/wire/group.h"
#include "learner/ppo/ppo_metrics.h"
#include "learner/ppo/ppo_options.h"
#include "replay/dream/dream_segment.h"

namespace regraft::learner {

/// PPO in two half-steps for the hierarchical controller of a world model's state: what Ppo is to policies of
/// graphs. One thread; on the CPU with one torch thread two runs over the same segments give the same bits.
/// Errors are nn::NnError: a step that does not fit the controller, a loss that is not finite (all is then as
/// it was before that update).
class ControllerPpo {
 public:
  /// `seed` keys the order of minibatches. `device`: auto, cpu or cuda.
  ControllerPpo(const nn::ControllerConfig& config, const nn::Weights& weights, const PpoOptions& options,
                std::uint64_t seed, const std::string& device = "cpu");
  ~ControllerPpo();
  /// From now on the members of the group share the work of each update. All are called with the same data,
  /// and come to the same weights.
  void share_with(std::shared_ptr<wire::Group> group);

  /// All epochs over these segments; afterwards version() is one higher. The proximal policy and all values
  /// are recomputed first; advantages are of whole episodes, whose segments follow each other
  /// (replay::goes_on()). Segments must not be empty.
  PpoMetrics update(std::span<const replay::DreamSegment> segments);

  /// From now on learning rate and entropy bonus are this share (0 to 1) of the options'.
  void anneal(double share);

  /// The version of the weights: 1 + updates, as on the wire, where 0 means none.
  std::uint64_t version() const;
  nn::Weights weights() const;
  const nn::ControllerConfig& config() const;

  /// Weights, optimiser state, random stream and version: a controller that is restored goes on to the bit.
  std::vector<std::byte> save() const;
  /// Throws replay::ReplayError or nn::NnError; this object is then unchanged.
  void restore(std::span<const std::byte> bytes);

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace regraft::learner
