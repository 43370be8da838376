#pragma once

#include <memory>
#include <span>

#include "learner/job/replica.h"
#include "learner/world/collect_phase.h"
#include "learner/world/world_fit.h"

namespace regraft::learner {

/// The fit of a world model. Each learner replays the episodes by itself.
class WorldReplica : public Replica {
 public:
  /// `setup` outlives it.
  WorldReplica(const CollectSetup& setup, EnvironmentOf environment_of);

  /// Makes the fit, which goes on from what an earlier one saved, if that is not empty. Throws as WorldFit.
  void start(const replay::SequenceReplay& replay, std::span<const std::byte> saved);
  /// Null before it is started.
  WorldFit* fit() const { return fit_.get(); }

  void share_with(std::shared_ptr<wire::Group> group) override;
  /// Starts it.
  void restore(std::span<const std::byte> state) override;
  void follow(std::span<const std::byte> data) override;
  std::vector<float> values() const override;

 private:
  const CollectSetup& setup_;
  const EnvironmentOf environment_of_;
  std::shared_ptr<wire::Group> group_;  // null: it learns alone
  std::unique_ptr<WorldFit> fit_;
};

/// For restore(): start() with the same.
std::vector<std::byte> encode_world_start(const replay::SequenceReplay& replay,
                                          std::span<const std::byte> saved);
/// For follow(): WorldFit::advance() with this.
std::vector<std::byte> encode_world_update(double time_share);

}
