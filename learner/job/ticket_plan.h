#pragma once

#include <cstdint>
#include <optional>

#include "core/base/mutex.h"
#include "core/wire/ticket.h"

namespace regraft::learner {

/// Decides what the next ticket asks for: models in turn, a seed of its own from the run's seed and the
/// ticket's position. In deterministic mode the tickets [u E, (u + 1) E) belong to update u and are acted
/// with the weights before it, so they are handed out only once those are published. Thread-safe; next()
/// never waits.
class TicketPlan {
 public:
  struct Options {
    std::uint64_t seed = 0;
    std::uint32_t models = 1;
    std::uint32_t segment_length = 32;
    bool deterministic = false;
    std::uint64_t episodes_per_update = 16;  // deterministic mode
    bool common_seeds = false;  // deterministic mode: all tickets of an update and model have one seed
    bool weights = true;        // false: none are needed, the version counts rounds alone
  };

  explicit TicketPlan(const Options& options) : options_(options) {}

  /// `version` is the latest published weight version: 1 + the number of updates; 0: none yet, so no ticket
  /// where they need weights.
  std::optional<wire::TicketSpec> next(std::uint64_t version);

  std::uint64_t position() const;
  void move_to(std::uint64_t position);
  /// Goes on after so many updates: at the position saved then; in deterministic mode with all tickets of
  /// the update that was interrupted.
  void resume(std::uint64_t updates, std::uint64_t saved_position);

 private:
  const Options options_;
  mutable Mutex mutex_;
  std::uint64_t position_ GUARDED_BY(mutex_) = 0;
};

}
