#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "replay/rollout/trajectory.h"

namespace regraft::learner {

/// For Ppo::anneal(), if there is a share, and Ppo::update().
struct PpoUpdate {
  std::optional<double> annealed;
  std::vector<replay::Segment> segments, best;
};

/// For Ppo::follow().
std::vector<std::byte> encode_ppo_update(std::optional<double> annealed,
                                         std::span<const replay::Segment> segments,
                                         std::span<const replay::Segment> best);
/// Throws replay::ReplayError.
PpoUpdate decode_ppo_update(std::span<const std::byte> bytes);

}
