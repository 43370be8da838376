#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <unordered_set>
#include <vector>

#include "core/base/rng.h"
#include "learner/ppo/episode.h"

namespace regraft::learner {

/// Gathers admitted episodes into batches for one update. In arrival order until there are enough steps or
/// episodes; in deterministic mode by ticket sequence: batch u is exactly the episodes [u E, (u + 1) E), in
/// order. An episode is handed out once; a ticket that comes again is refused and counted. Tickets are
/// remembered as long as their weights are not too old to be trained on. One thread.
class Batcher {
 public:
  struct Options {
    std::uint64_t steps_per_update = 512;  // 0: by episodes
    bool deterministic = false;
    std::uint64_t episodes_per_update = 16;  // deterministic mode, or by episodes
  };
  explicit Batcher(const Options& options) : options_(options) {}

  void add(Episode episode);
  bool ready(std::uint64_t update) const;
  /// The batch of this update. Episodes that lag more than `staleness` behind `version` by now are left out
  /// and counted.
  std::vector<Episode> take(std::uint64_t update, std::uint64_t version, std::uint64_t staleness);

  /// What is gathered so far, for a checkpoint.
  std::vector<Episode> pending() const;
  std::size_t pending_episodes() const { return pending_.size(); }
  std::uint64_t expired() const { return expired_; }
  /// Episodes that came although they had been trained on: a bug if it ever rises.
  std::uint64_t trained_twice() const { return trained_twice_; }

 private:
  const Options options_;
  std::map<std::uint64_t, Episode> pending_;  // by arrival number, or by ticket sequence
  std::uint64_t arrivals_ = 0;
  std::uint64_t steps_ = 0;
  std::map<std::uint64_t, std::unordered_set<std::uint64_t>> seen_;  // tickets, by version of their weights
  std::uint64_t expired_ = 0;
  std::uint64_t trained_twice_ = 0;
};

/// Which episodes of a batch are trained on, ascending: drawn at random until they have `share` (0 to 1] of
/// its steps. All of them where the share is 1.
std::vector<std::size_t> draw_episodes(std::span<const Episode> batch, double share, Rng& rng);

}
