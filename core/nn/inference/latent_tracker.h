#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/env/action.h"
#include "core/env/observation.h"
#include "core/nn/inference/dream.h"
#include "core/nn/model/world_model.h"

namespace regraft::nn {

/// The state [z, h] along a real episode: z encodes each observation, h is advanced by the world model with
/// the actions that were taken. What a controller needs to play a real environment, and where a dream can
/// branch off. One thread.
class LatentTracker {
 public:
  explicit LatentTracker(const WorldModel& world);
  ~LatentTracker();
  LatentTracker(LatentTracker&&) noexcept;
  LatentTracker& operator=(LatentTracker&&) noexcept;

  /// An episode begins with this observation.
  void reset(const env::Observation& observation);
  /// Goes on from where start() was taken.
  void resume(const DreamStart& start);
  /// The action, in the environment's numbering, led to this observation. One that the world model never saw
  /// leaves h as it is.
  void advance(env::Action action, const env::Observation& next);

  std::span<const float> state() const;
  /// The observation's location counts in the world model's numbering.
  const std::vector<std::uint16_t>& counts() const;
  /// A dream that branches off here, or where to resume().
  DreamStart start() const;
  /// The environment's number of one of the world model's rules.
  std::uint32_t rule_of(std::uint32_t world_rule) const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}
