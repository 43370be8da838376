#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "replay/rollout/byte_reader.h"

namespace regraft::replay {

/// Who played it: a world model, or a real environment of which the world model gave z and h. Counted apart.
enum class DreamSource : std::uint8_t { dreamed = 0, real = 1 };

/// One step of a controller on a world model's state, as it saw and took it.
struct DreamedStep {
  std::vector<float> state;          // [z, h]
  std::vector<std::uint16_t> legal;  // rules, ascending; NO-OP is the last
  std::uint16_t rule = 0, location = 0;
  std::uint16_t count = 1;  // locations of that rule; NO-OP's is 1
  float log_rule = 0;       // under the behaviour controller mu
  float log_location = 0;   // 0 for NO-OP
  float reward = 0;
  bool terminated = false;  // the episode ended here: nothing is bootstrapped

  bool operator==(const DreamedStep&) const = default;
};

/// A stretch of one episode played by a controller, at most kMaxDreamedSteps long, with one bundle. A ticket
/// holds many episodes, numbered from 0.
struct DreamSegment {
  std::uint64_t ticket = 0;
  std::uint64_t generation = 0;
  std::uint64_t weight_version = 0;  // of the bundle
  std::uint32_t model = 0;           // index into the job's list of models
  std::uint64_t seed = 0;            // of the ticket
  std::uint32_t episode = 0;         // of the ticket
  DreamSource source = DreamSource::dreamed;
  std::vector<DreamedStep> steps;
  std::vector<float> next_state;  // after the last step, to bootstrap from; empty where it terminated
  // For the whole episode, known where it ends; NaN before, and where only the real graph would tell.
  float episode_return = 0;
  float final_cost_ratio = 0;  // final cost / initial cost
  float best_cost_ratio = 0;   // best visited cost / initial cost
};

/// Whether the episode ends with this segment, terminated or truncated.
inline bool ends_episode(const DreamSegment& segment) {
  return segment.steps.back().terminated || std::isfinite(segment.episode_return);
}

/// Whether `next` is the stretch of the same episode that follows `segment`, given that it was sent next.
inline bool goes_on(const DreamSegment& segment, const DreamSegment& next) {
  return next.ticket == segment.ticket && next.generation == segment.generation &&
         next.episode == segment.episode && !ends_episode(segment);
}

inline constexpr std::size_t kMaxDreamedSteps = 32;
inline constexpr std::uint32_t kMaxDreamSegments = 4096;  // of a ticket

/// Bounds on what is decoded: bytes come from other machines.
struct DreamLimits {
  std::size_t state = 1 << 14;
  std::size_t rules = 1 << 16;
};

/// How large an episode of a controller can get.
struct DreamedEpisodeSize {
  std::uint32_t horizon = 1;  // steps
  std::size_t state = 0;      // numbers in [z, h]
  std::uint32_t rules = 1;    // NO-OP included
};

/// How many such episodes fit a ticket (kMaxTicketBytes, kMaxDreamSegments), whatever is played; 0 where not
/// even one does.
std::uint32_t episodes_of_a_ticket(const DreamedEpisodeSize& size);

/// Frames for the wire: [0] scalars and masks, [1] states as raw floats. Throws ReplayError for a segment
/// that breaks its contract.
std::vector<Bytes> encode_dream_segment(const DreamSegment& segment);
/// The segment that was encoded, bit for bit. Throws ReplayError on anything else: counts, masks, choices and
/// figures are checked.
DreamSegment decode_dream_segment(std::span<const std::span<const std::byte>> frames,
                                  const DreamLimits& limits = {});

}
