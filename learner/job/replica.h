#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "core/wire/group.h"

namespace regraft::learner {

/// What the learners of a job train together: each has a replica, of one config and seed. All make the same
/// updates of it, and come to the same weights. One thread.
class Replica {
 public:
  virtual ~Replica() = default;
  /// From now on the members of the group share the work of each update.
  virtual void share_with(std::shared_ptr<wire::Group> group) = 0;
  /// Becomes what the first learner's replica is.
  virtual void restore(std::span<const std::byte> state) = 0;
  /// Makes the update that the first learner makes of this.
  virtual void follow(std::span<const std::byte> data) = 0;
  /// The weights, by which learners see that their replicas are alike.
  virtual std::vector<float> values() const = 0;
};

}
