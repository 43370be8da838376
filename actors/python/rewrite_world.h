#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "actors/python/packed_observation.h"
#include "core/base/clock.h"
#include "core/base/mutex.h"
#include "core/task/environment_pool.h"

namespace regraft::actors {

/// The models of a workload as one environment that plays one of them at a time: what Python holds.
///
/// Any thread may call it, and calls wait for each other; none needs Python's lock. Everything that it gives
/// is the caller's own, but names of rules, which live as long as it does. Throws what loading a model throws
/// (OnnxError, WorkloadError, ...), and EnvError for a step where no episode is under way.
class RewriteWorld {
 public:
  /// Loads the first model.
  explicit RewriteWorld(task::WorkloadOptions options);

  struct Start {
    std::unique_ptr<PackedObservation> observation;
    cost::Cost cost;
    std::uint32_t truncated_locations = 0;
  };
  /// A new episode on a model of the list, which is loaded when it is first asked for.
  Start reset(std::uint32_t model, std::uint64_t seed);

  struct Step {
    std::unique_ptr<PackedObservation> observation;
    env::StepResult result;
    cost::Cost best;  // of the episode so far
  };
  Step step(env::Action action);

  /// Writes the cheapest graph of the episode as a model.
  void write_best(const std::filesystem::path& path);

  const rules::RuleSet& rules() const { return rules_; }
  const task::WorkloadOptions& options() const { return options_; }

 private:
  const task::WorkloadOptions options_;
  const rules::RuleSet rules_;
  const SystemClock clock_{};
  Mutex mutex_;
  task::EnvironmentPool pool_ GUARDED_BY(mutex_);
  std::uint32_t model_ GUARDED_BY(mutex_) = 0;
  bool begun_ GUARDED_BY(mutex_) = false;
};

}
