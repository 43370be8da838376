#pragma once

#include <cstdint>
#include <stop_token>

#include "core/base/clock.h"
#include "core/task/environment_pool.h"
#include "core/wire/link.h"
#include "replay/rollout/play.h"

namespace regraft::actors {

/// Plays rollouts of real environments for a world model and sends them as action logs:
///   ticket -> reset(seed) -> chooser step... -> one result
/// It needs no weights of the learner. One thread.
class Collector {
 public:
  /// The link and the clock outlive it.
  Collector(wire::Link& link, task::WorkloadOptions workload, replay::Chooser choose, const Clock& clock);

  /// Until the learner says that the run has ended or a stop is requested. Throws what the link throws
  /// otherwise.
  void run(const std::stop_token& stopped);
  /// One ticket.
  void play(const wire::Ticket& ticket);

  std::uint64_t steps() const { return steps_; }
  std::uint64_t episodes() const { return episodes_; }

 private:
  wire::Link& link_;
  task::EnvironmentPool environments_;
  replay::Chooser choose_;
  std::uint64_t steps_ = 0, episodes_ = 0;
};

}
