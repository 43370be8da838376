#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "core/wire/link.h"
#include "replay/rollout/trajectory.h"

namespace regraft::actors {

/// Sends episodes that were played before, as the results of its tickets, as fast as these come: for load
/// tests of whoever takes them in. A ticket gets the episode that its seed chooses. Only what names ticket
/// and weights is written anew; observations are sent as they were encoded once.
///   ticket -> recorded segments -> learner
/// One thread.
class Replayer {
 public:
  /// The link outlives it. Of each episode its segments, in order; at least one of each.
  Replayer(wire::Link& link, std::span<const std::vector<replay::Segment>> episodes);

  /// Until the learner says that the run has ended or a stop is requested. Throws what the link throws
  /// otherwise.
  void run(const std::stop_token& stopped);

 private:
  struct Recorded {
    replay::Segment segment;  // without observations
    wire::Frame observations;
  };
  void send(const wire::Ticket& ticket);

  wire::Link& link_;
  std::vector<std::vector<Recorded>> episodes_;
  std::uint64_t steps_ = 0;  // sent
};

}
