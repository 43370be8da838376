#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "replay/rollout/byte_reader.h"

namespace regraft::replay {

/// One action and what the environment paid for it.
struct RolloutStep {
  std::uint16_t rule = 0;      // rule number, or the rule count for NO-OP
  std::uint16_t location = 0;  // within its rule
  float reward = 0;

  bool operator==(const RolloutStep&) const = default;
};

/// One episode as the actions that were taken: an environment of the same model, rules, costs and
/// kinds of actions makes its graphs, observations and masks again, to the bit. A few bytes a step.
struct Rollout {
  std::uint32_t model = 0;     // index into a list of models
  std::uint64_t seed = 0;      // of the random stream it was played with
  std::uint64_t sequence = 0;  // its place in the order of tickets: replays are ordered by it
  std::vector<RolloutStep> steps;
  bool terminated = false;     // by its last step; false: cut at the horizon
  float final_cost_ratio = 1;  // final cost / initial cost
  float best_cost_ratio = 1;   // best visited cost / initial cost
  std::uint64_t costed = 0;    // graphs whose cost was asked for: by the steps, and to choose them

  bool operator==(const Rollout&) const = default;
};

inline constexpr std::size_t kMaxRolloutSteps = 65535;

Bytes encode_rollout(const Rollout& rollout);
/// Throws ReplayError on anything but exactly one rollout: no steps, figures that are not finite, damage.
Rollout decode_rollout(std::span<const std::byte> bytes);

/// Rollouts on disk with what is needed to replay them.
struct RolloutFile {
  std::string rule_set_hash;
  std::vector<std::string> models;  // as given to the collector: files, or names of synthetic graphs
  std::string record = "{}";  // a JSON object: options of environment and collector, counts; free in form
  std::vector<Rollout> rollouts;

  bool operator==(const RolloutFile&) const = default;
};

/// There whole or not at all. Throws FileError.
void save_rollouts(const RolloutFile& file, const std::filesystem::path& path);
/// Throws FileError, and ReplayError: not such a file, damaged, another format.
RolloutFile load_rollouts(const std::filesystem::path& path);

}
