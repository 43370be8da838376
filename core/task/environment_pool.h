#pragma once

#include <cstdint>
#include <list>
#include <memory>

#include "core/base/clock.h"
#include "core/task/workload.h"

namespace regraft::task {

/// Tasks and environments of a workload, made when they are asked for. It keeps as many as the workload says:
/// the one that was not asked for the longest goes first. One thread.
class EnvironmentPool {
 public:
  /// The clock outlives it.
  EnvironmentPool(WorkloadOptions options, const Clock& clock);
  ~EnvironmentPool();

  /// The environment of a model of the workload's list, in the state it was left; a new one where it was not
  /// kept. Valid until another model is asked for.
  env::Environment& environment(std::uint32_t model);
  /// What that environment was made from.
  const Task& task(std::uint32_t model);

 private:
  struct Held;
  Held& held(std::uint32_t model);

  WorkloadOptions options_;
  const Clock& clock_;
  std::list<std::unique_ptr<Held>> held_;  // the last one asked for first
};

}
