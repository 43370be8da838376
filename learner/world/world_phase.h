#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "learner/job/job_runner.h"
#include "learner/job/phase.h"
#include "learner/job/run_folder.h"
#include "learner/world/world_fit.h"

namespace regraft::learner {

/// Where the phase keeps its results, within a run folder.
struct WorldFolder {
  std::filesystem::path root;

  explicit WorldFolder(const RunFolder& run) : root(run.root / "world") {}
  std::filesystem::path model() const { return root / "model.world"; }
  std::filesystem::path rollouts() const { return root / "collected.rollouts"; }
  std::filesystem::path spill() const { return root / "replay.spill"; }
};

/// What the phases `collect` and `world-model` need to know of the job.
struct WorldPhaseSetup {
  JobSetup job;
  WorldOptions world;
  WorldContext context;
  std::vector<std::string> models;  // as in workload.models, for the file of rollouts
  EnvironmentOf environment_of;     // for replaying what was collected
  bool collect_only = false;
};

/// Throws UsageError where a replay forgot episodes before it held `wanted` steps: it would never hold them.
void require_room(const replay::SequenceReplay& replay, std::uint64_t wanted);

/// Collects and fits a world model:
///   action logs -> replay, until there are enough steps; replay -> WorldFit -> RUN/world
/// The replay, and the fit between any two updates, are in the checkpoints. In lock step tickets are given
/// out in rounds that are taken whole, so that the replay holds the same episodes in the same order for any
/// number of actors, and the fit ends in the same bits, interrupted or not. With train.minutes, half of them
/// are for collecting at most, and the fit ends in time (WorldFit::advance). Once done it writes
/// RUN/world/{model.world, collected.rollouts, *.csv}. What does not fit the job is a LearnerError. The clock
/// outlives it.
std::unique_ptr<Phase> make_world_phase(WorldPhaseSetup setup, const Clock& clock);

}  // namespace regraft::learner
