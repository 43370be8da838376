#include "actors/python/rewrite_world.h"

#include <utility>

#include "core/env/env_error.h"

namespace regraft::actors {

RewriteWorld::RewriteWorld(task::WorkloadOptions options)
    : options_(std::move(options)), rules_(task::load_rules(options_)), pool_(options_, clock_) {
  if (options_.models.empty())
    throw task::WorkloadError("no model is given", "RewriteEnv", "name an ONNX file");
  pool_.environment(model_);
}

RewriteWorld::Start RewriteWorld::reset(std::uint32_t model, std::uint64_t seed) {
  const MutexLock lock(mutex_);
  env::Environment& environment = pool_.environment(model);
  const env::Observation& seen = environment.reset(seed);
  model_ = model;
  begun_ = true;
  return {std::make_unique<PackedObservation>(seen), environment.cost(), seen.truncated_locations};
}

RewriteWorld::Step RewriteWorld::step(env::Action action) {
  const MutexLock lock(mutex_);
  if (!begun_) throw env::EnvError("no episode has begun", "step", "call reset first");
  env::Environment& environment = pool_.environment(model_);
  const env::StepResult result = environment.step(action);
  return {std::make_unique<PackedObservation>(environment.observation()), result, environment.best().cost};
}

void RewriteWorld::write_best(const std::filesystem::path& path) {
  const MutexLock lock(mutex_);
  const task::Task& task = pool_.task(model_);
  task.write(env::replay(task.start(), task.rules(), pool_.environment(model_).best().path), path);
}

}
