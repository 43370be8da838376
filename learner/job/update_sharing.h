#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "learner/job/replica.h"

namespace regraft::learner {

/// Joins the learners of a job that share its updates: waits until all are there.
using JoinLearners = std::function<std::shared_ptr<wire::Group>()>;

/// The first learner's end. It tells its peers how far it is, before each update what it learns from, and at
/// last that the job has come to its end. One that learns alone tells nothing, and makes no bytes for it.
/// Throws WireError.
class UpdateSharing {
 public:
  using MakeBytes = std::function<std::vector<std::byte>()>;

  /// `join` is called when the first update is due; null: it learns alone. The replica outlives it.
  UpdateSharing(Replica& replica, JoinLearners join);

  /// Before the first update; later it does nothing. `state` is for Replica::restore().
  void begin(const MakeBytes& state);
  /// Right before each update, once begun. `data` is for Replica::follow().
  void tell(const MakeBytes& data) const;
  /// Tells that the job has come to its end, as PhaseSummary::farewell; null: nobody has joined.
  std::function<void()> farewell() const;

 private:
  Replica& replica_;
  JoinLearners join_;
  std::shared_ptr<wire::Group> group_;  // once begun
};

/// The work of a peer: it takes part in all updates until the job has come to its end. Throws WireError,
/// kMisuse where it came to other weights than the first learner, and what the replica throws.
void follow_updates(const JoinLearners& join, Replica& replica);

}
