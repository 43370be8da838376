#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/env/environment.h"
#include "core/nn/inference/controller.h"
#include "core/nn/inference/dream.h"
#include "core/nn/inference/latent_tracker.h"
#include "replay/dream/branch.h"
#include "replay/dream/dream_segment.h"

namespace regraft::replay {

/// Writes one episode of a controller down as segments. One thread.
class DreamRecorder {
 public:
  /// What stands in every segment: ticket, generation, version, model, seed, episode, source.
  explicit DreamRecorder(DreamSegment header) : header_(std::move(header)) {}

  /// Before the step: the state and what was chosen in it.
  void chose(std::span<const float> state, std::span<const std::uint32_t> legal, std::uint32_t count,
             const nn::ControllerChoice& choice);
  /// After it: what it paid, and the state it led to. At an end, `truncated` says that the state counts.
  void paid(double reward, bool terminated, bool truncated, std::span<const float> next_state);

  double episode_return() const { return return_; }
  /// Segments that are whole, in order; the last one too once the episode has ended.
  std::vector<DreamSegment>& segments() { return segments_; }

 private:
  DreamSegment header_, open_;
  std::vector<DreamSegment> segments_;
  double return_ = 0;
};

/// One dreamed episode from each start, side by side; `header` as for DreamRecorder, episodes numbered by
/// start. Draws depend on header.seed and the episode's number alone. What has not ended after `most_steps`
/// is truncated there; 0: no limit but the dream's horizon.
std::vector<DreamSegment> record_dreams(nn::Dream& dream, nn::DreamPlayer& player,
                                        std::span<const nn::DreamStart> starts, const DreamSegment& header,
                                        std::uint32_t most_steps = 0);

/// One episode of a controller in a real environment, as segments. `header` as above. `branches`, where
/// given, follows it.
std::vector<DreamSegment> record_episode(env::Environment& environment, nn::LatentTracker& tracker,
                                         nn::Controller& controller, nn::ActionSelection selection,
                                         const DreamSegment& header, BranchRecorder* branches = nullptr);

}
