#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "core/base/clock.h"
#include "core/task/workload.h"

namespace regraft::task {

/// Tasks and environments of a workload, made when they are first asked for. One thread.
class EnvironmentPool {
 public:
  /// The clock outlives it.
  EnvironmentPool(WorkloadOptions options, const Clock& clock);
  ~EnvironmentPool();

  /// The environment of a model of the workload's list; the same one each time, in the state it was left.
  env::Environment& environment(std::uint32_t model);
  /// What that environment was made from.
  const Task& task(std::uint32_t model);

 private:
  struct Held;
  Held& held(std::uint32_t model);

  WorkloadOptions options_;
  const Clock& clock_;
  std::map<std::uint32_t, std::unique_ptr<Held>> held_;
};

}  // namespace regraft::task
