#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/wire/group.h"

namespace regraft::learner {

/// What the learners of a job train together: each has a copy, all make the same updates of it, and all come
/// to the same weights. One thread.
class Trainee {
 public:
  virtual ~Trainee() = default;
  /// From now on the members of the group share the work of each update.
  virtual void share_with(std::shared_ptr<wire::Group> group) = 0;
  /// Becomes what the first learner's copy is.
  virtual void restore(std::span<const std::byte> state) = 0;
  /// The update that the first learner makes of this.
  virtual void update(std::span<const std::byte> data) = 0;
  /// By which learners see that their copies are alike.
  virtual std::vector<float> weights() const = 0;
};

/// Joins the learners of a job that share its updates: waits until all are there.
using JoinLearners = std::function<std::shared_ptr<wire::Group>()>;

/// The first learner's end. It tells its peers how far it is, before each update what it learns from, and at
/// last that the job has come to its end. One that learns alone tells nothing, and makes no bytes for it.
/// Throws WireError.
class UpdateSharing {
 public:
  using MakeBytes = std::function<std::vector<std::byte>()>;

  /// `join` is called when the first update is due; null: it learns alone. The trainee outlives it.
  UpdateSharing(Trainee& trainee, JoinLearners join);

  /// Before the first update; later it does nothing. `state` is for Trainee::restore().
  void begin(const MakeBytes& state);
  /// Right before each update, once begun. `data` is for Trainee::update().
  void tell(const MakeBytes& data) const;
  /// Tells that the job has come to its end, as PhaseSummary::farewell; null: nobody has joined.
  std::function<void()> farewell() const;

 private:
  Trainee& trainee_;
  JoinLearners join_;
  std::shared_ptr<wire::Group> group_;  // once begun
};

/// The work of a peer: it takes part in all updates until the job has come to its end. Throws WireError,
/// kMisuse where it came to other weights than the first learner, and what the trainee throws.
void follow_updates(const JoinLearners& join, Trainee& trainee);

}  // namespace regraft::learner
