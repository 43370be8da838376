#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/env/action.h"
#include "core/nn/inference/dream.h"
#include "replay/rollout/byte_reader.h"

namespace regraft::replay {

/// One step of a real episode, dreamed again from the branch with the same actions.
struct BranchStep {
  float predicted = 0, real = 0;  // rewards
  // Counts for the mask that follows, without NO-OP. After the real end all that a dream still offers is
  // false.
  std::uint16_t hits = 0, false_alarms = 0, misses = 0;

  bool operator==(const BranchStep&) const = default;
};

/// A point of a real episode that dreams may branch off, with h computed from the steps before. And how far a
/// dream from there agreed with the rest of the episode.
struct Branch {
  std::uint32_t model = 0;
  nn::DreamStart start;
  std::vector<BranchStep> steps;  // at least 1
};

Bytes encode_branches(std::span<const Branch> branches);
/// Throws ReplayError on anything else, figures that are not finite among it.
std::vector<Branch> decode_branches(std::span<const std::byte> bytes);

/// Follows a real episode and keeps what branches are made of. One thread.
class BranchRecorder {
 public:
  /// Where the episode stands; before each action and after the last.
  void state(nn::DreamStart point) { states_.push_back(std::move(point)); }
  /// What was done there, in the world model's numbering, and what it paid.
  void acted(env::Action action, double reward);

  /// At most `count` different points, drawn by `seed`, after which the episode has a step or more. Each is
  /// followed by a dream of one replica for at most `depth` steps.
  std::vector<Branch> branches(nn::Dream& dream, std::uint32_t model, std::uint32_t count,
                               std::uint32_t depth, std::uint64_t seed) const;

 private:
  Branch follow(nn::Dream& dream, std::size_t from, std::uint32_t depth, std::uint64_t seed) const;

  std::vector<nn::DreamStart> states_;
  std::vector<env::Action> actions_;
  std::vector<double> rewards_;
};

}
