#include "launch/job/dream_job.h"

#include <optional>
#include <utility>

#include "actors/dream_actor.h"
#include "core/base/log.h"
#include "core/base/named_by_config.h"
#include "core/task/workload.h"
#include "launch/job/job_setup.h"
#include "launch/job/world_job.h"

namespace regraft::launch {
namespace {

void play(const ActorPlace& place, const actors::DreamActorOptions& options) {
  std::optional<task::WorkloadOptions> real;
  if (place.kind == kControllerKind) real = task::workload_options_from(place.config);
  actors::DreamActor actor(place.link, options, std::move(real), place.clock);
  actor.run(place.stopped);
  log_info("played {} episodes, {} steps", actor.episodes(), actor.steps());
}

actors::DreamActorOptions actor_options(const Config& config) {
  const learner::DreamPhaseOptions options = learner::dream_options_from(config);
  return {.dream = learner::dream_of(options), .replicas = options.replicas};
}

}  // namespace

learner::DreamPhaseSetup dream_setup(const learner::RunFolder& folder, const Config& config) {
  learner::DreamPhaseSetup setup;
  setup.job = job_setup(folder, config);
  setup.ppo = learner::ppo_options().from(config);
  setup.dream = learner::dream_options_from(config);
  setup.context = world_context(config);
  return setup;
}

void check_dream_actors(const Config& config, ActorCount actors) {
  if (actors.dreaming > 0 && actors.real == 0) return;
  if (config.text("dream.controller") == "linear")
    throw UsageError("a linear controller is evolved in dreams alone", "actors.count",
                     "set it to 0, and actors.dream to 1 or more");
  if (config.flag("train.deterministic"))
    throw UsageError("which episodes are real would depend on who is faster", "train.deterministic",
                     "dream alone: set actors.count to 0, and actors.dream to 1 or more");
}

void check_dyna_actors(ActorCount actors) {
  if (actors.dreaming == 0 || actors.real == 0)
    throw UsageError("the phase dyna needs actors of both kinds",
                     actors.real > 0 ? "actors.dream" : "actors.count", "use at least 1");
}

void run_dream_actor(const ActorPlace& place) {
  play(place, actor_options(place.config));
}

void run_dyna_actor(const ActorPlace& place) {
  actors::DreamActorOptions options = actor_options(place.config);
  options.branch_steps = learner::dyna_options_from(place.config).branch_steps;
  play(place, options);
}

}
