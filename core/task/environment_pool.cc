#include "core/task/environment_pool.h"

#include <utility>

namespace regraft::task {

struct EnvironmentPool::Held {
  Held(std::unique_ptr<Task> loaded, const WorkloadOptions& options, const Clock& clock)
      : task(std::move(loaded)), environment(make_environment(*task, options, clock)) {}
  std::unique_ptr<Task> task;
  env::Environment environment;
};

EnvironmentPool::EnvironmentPool(WorkloadOptions options, const Clock& clock)
    : options_(std::move(options)), clock_(clock) {}
EnvironmentPool::~EnvironmentPool() = default;

EnvironmentPool::Held& EnvironmentPool::held(std::uint32_t model) {
  auto& entry = held_[model];
  if (!entry) entry = std::make_unique<Held>(load_task(options_, model), options_, clock_);
  return *entry;
}

env::Environment& EnvironmentPool::environment(std::uint32_t model) {
  return held(model).environment;
}

const Task& EnvironmentPool::task(std::uint32_t model) {
  return *held(model).task;
}

}  // namespace regraft::task
