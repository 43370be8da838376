#include "core/task/environment_pool.h"

#include <algorithm>
#include <utility>

namespace regraft::task {

struct EnvironmentPool::Held {
  Held(std::uint32_t number, const WorkloadOptions& options, const Clock& clock)
      : model(number),
        task(load_task(options, number)),
        environment(make_environment(*task, options, clock)) {}
  std::uint32_t model;
  std::unique_ptr<Task> task;
  env::Environment environment;
};

EnvironmentPool::EnvironmentPool(WorkloadOptions options, const Clock& clock)
    : options_(std::move(options)), clock_(clock) {}
EnvironmentPool::~EnvironmentPool() = default;

EnvironmentPool::Held& EnvironmentPool::held(std::uint32_t model) {
  const auto found = std::ranges::find(held_, model, [](const auto& each) { return each->model; });
  if (found != held_.end()) {
    held_.splice(held_.begin(), held_, found);
  } else {
    auto made = std::make_unique<Held>(model, options_, clock_);  // which may throw: then all stays as it was
    if (!held_.empty() && held_.size() >= options_.environments) held_.pop_back();
    held_.push_front(std::move(made));
  }
  return *held_.front();
}

env::Environment& EnvironmentPool::environment(std::uint32_t model) {
  return held(model).environment;
}

const Task& EnvironmentPool::task(std::uint32_t model) {
  return *held(model).task;
}

}
