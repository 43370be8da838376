#include "actors/environment_pool.h"

#include <utility>

namespace regraft::actors {

struct EnvironmentPool::Held {
  Held(std::unique_ptr<Task> loaded, const WorkloadOptions& options, const Clock& clock)
      : task(std::move(loaded)), environment(make_environment(*task, options, clock)) {}
  std::unique_ptr<Task> task;
  env::Environment environment;
};

EnvironmentPool::EnvironmentPool(WorkloadOptions options, const Clock& clock)
    : options_(std::move(options)), clock_(clock) {}
EnvironmentPool::~EnvironmentPool() = default;

env::Environment& EnvironmentPool::environment(std::uint32_t model) {
  auto& held = held_[model];
  if (!held) held = std::make_unique<Held>(load_task(options_, model), options_, clock_);
  return held->environment;
}

}  // namespace regraft::actors
