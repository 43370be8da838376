#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/env/environment.h"
#include "learner/world/world_options.h"
#include "replay/rollout/sequence_replay.h"

namespace regraft::learner {

/// The environment of a model of the job: made where models can be loaded.
using EnvironmentOf = std::function<env::Environment&(std::uint32_t model)>;

/// An action whose cost change is known.
struct PeekedAction {
  std::uint16_t rule = 0, location = 0;
  float change = 0;  // (cost before - after) / initial cost
};

/// What is learnt of a state, its observation apart.
struct StateFacts {
  float log_cost_ratio = 0;           // ln(cost / initial cost)
  std::vector<std::uint16_t> counts;  // [rules + 1] location counts
  std::vector<PeekedAction> peeks;
};

/// An episode that was replayed: states[t] is before actions[t], the last state after all.
struct WorldEpisode {
  std::uint32_t model = 0;
  std::uint64_t sequence = 0;
  bool terminated = false;
  std::vector<replay::RolloutStep> actions;
  std::vector<StateFacts> states;

  std::uint32_t length() const { return static_cast<std::uint32_t>(actions.size()); }
  /// Step `t` ended the episode.
  bool ends(std::uint32_t t) const { return terminated && t + 1 == length(); }
};

/// Episodes of a replay, replayed in their environments: facts of all states, observations as far as memory
/// goes, else made again. Which actions are peeked at depends on seed and ticket alone; held out is every so
/// many of a model's episodes, in the replay's order. One thread, that of the environments.
class WorldData {
 public:
  /// Replays everything once. An episode that cannot be replayed (an environment pays other rewards, or knows
  /// no such action) is left out, counted and logged. Throws replay::ReplayError where more than a tenth are:
  /// rules, costs or models are not those of the collector.
  WorldData(const replay::SequenceReplay& replay, const WorldOptions& options, EnvironmentOf environment_of);

  std::span<const WorldEpisode> episodes() const { return episodes_; }
  /// Indices of episodes.
  const std::vector<std::size_t>& train() const { return train_; }
  const std::vector<std::size_t>& held_out() const { return held_out_; }
  /// [length + 1].
  std::vector<env::Observation> observations(std::size_t episode) const;

  std::uint32_t rule_count() const { return rule_count_; }
  /// Rules that were legal in some state, ascending, and NO-OP: the world's numbering.
  const std::vector<std::uint16_t>& rules() const { return rules_; }
  /// Number in the world of a rule that was legal somewhere.
  std::uint32_t row_of(std::uint16_t rule) const { return rows_[rule]; }
  std::uint64_t steps() const { return steps_; }
  /// Graphs whose cost was asked for while these were collected, and to fit what peeks say.
  std::uint64_t costed() const { return costed_; }
  std::uint64_t lost() const { return lost_; }

 private:
  WorldEpisode play(const replay::Rollout& rollout, std::uint32_t peeks,
                    std::vector<env::Observation>& observations) const;

  EnvironmentOf environment_of_;
  std::uint64_t seed_;
  std::vector<WorldEpisode> episodes_;
  std::vector<std::vector<env::Observation>> cache_;  // by episode; empty: not kept
  std::vector<replay::Rollout> uncached_;             // by episode; no steps: cached
  std::vector<std::size_t> train_, held_out_;
  std::uint32_t rule_count_ = 0;
  std::vector<std::uint16_t> rules_;
  std::vector<std::uint32_t> rows_;  // by rule
  std::uint64_t steps_ = 0, costed_ = 0, lost_ = 0;
};

}
