#pragma once

#include <optional>
#include <span>

#include "core/wire/group.h"
#include "learner/ppo/ppo.h"

namespace regraft::learner {

/// What the first learner of a job tells its peers, before each all of them do the same: how far it is, each
/// update's data, and that the job has come to its end.
class PpoPeers {
 public:
  explicit PpoPeers(wire::Group& group) : group_(group) {}

  /// Once, before the first update.
  void tell_state(const Ppo& ppo);
  /// `annealed`: the share that Ppo::anneal() is called with, if it is. `ppo` is as it is before the update.
  void tell_update(const Ppo& ppo, std::optional<double> annealed, std::span<const replay::Segment> segments,
                   std::span<const replay::Segment> best);
  void tell_end();

 private:
  wire::Group& group_;
};

/// A peer's work: it takes part in updates until the job has come to its end. `ppo` is of the same group,
/// config and options as the first learner's. Throws WireError, kMisuse where it came to other weights, and
/// what Ppo throws.
void follow_updates(wire::Group& group, Ppo& ppo);

}  // namespace regraft::learner
