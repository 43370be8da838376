#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/wire/delivery.h"
#include "replay/rollout/trajectory.h"

namespace regraft::learner {

/// One played episode: its ticket and its segments in order.
struct Episode {
  wire::Ticket ticket;
  std::vector<replay::Segment> segments;

  std::size_t step_count() const;
  /// All segments were acted with it.
  std::uint64_t weight_version() const { return segments.front().weight_version; }
  /// The policy that acted decides in two halves; the same in all segments.
  bool hierarchical() const { return segments.front().hierarchical; }
  /// It was played with rules at all of their sites as actions, too; the same in all steps.
  env::ActionMode action_mode() const { return segments.front().steps.front().observation.action_mode; }
  const replay::Segment& end() const { return segments.back(); }
};

/// Decodes a result and checks that its parts fit together as one episode of its ticket: generation, seed,
/// model, one weight version, one head, an end in the last segment and nowhere else. Throws
/// replay::ReplayError.
Episode assemble_episode(const wire::Delivery& delivery);

/// For checkpoints.
std::vector<std::byte> encode_episodes(std::span<const Episode> episodes);
/// Throws replay::ReplayError.
std::vector<Episode> decode_episodes(std::span<const std::byte> bytes);

}
