#include "launch/job/dream_job.h"

#include <optional>

#include "actors/dream_actor.h"
#include "core/base/log.h"
#include "core/task/workload.h"
#include "launch/job/job_config.h"
#include "launch/job/world_job.h"

namespace regraft::launch {

learner::DreamPhaseSetup dream_setup(const learner::RunFolder& folder, const Config& config) {
  learner::DreamPhaseSetup setup;
  setup.job = job_setup(folder, config);
  setup.ppo = learner::ppo_options().from(config);
  setup.dream = learner::dream_options_from(config);
  if (config.text("train.phase") == "dyna") setup.dyna = learner::dyna_options_from(config);
  setup.context = world_context(config);
  return setup;
}

bool is_dream_phase(const Config& config) {
  return config.text("train.phase") == "dream" || config.text("train.phase") == "dyna";
}

void check_dream_actors(const Config& config, std::int64_t dreaming, std::int64_t real) {
  const bool dreams_alone = dreaming > 0 && real == 0;
  if (config.text("train.phase") == "dyna" && (dreaming == 0 || real == 0))
    throw UsageError("the phase dyna needs actors of both kinds", real > 0 ? "actors.dream" : "actors.count",
                     "use at least 1");
  if (config.text("train.phase") != "dream" || dreams_alone) return;
  if (config.text("dream.controller") == "linear")
    throw UsageError("a linear controller is evolved in dreams alone", "actors.count",
                     "set it to 0, and actors.dream to 1 or more");
  if (config.flag("train.deterministic"))
    throw UsageError("which episodes are real would depend on who is faster", "train.deterministic",
                     "dream alone: set actors.count to 0, and actors.dream to 1 or more");
}

void run_dream_actor(wire::Link& link, const std::string& kind, const Config& config, const Clock& clock,
                     const std::stop_token& stopped) {
  const learner::DreamPhaseOptions options = learner::dream_options_from(config);
  std::optional<task::WorkloadOptions> real;
  if (kind == kControllerKind) real = task::workload_options_from(config);
  actors::DreamActorOptions playing{.dream = learner::dream_of(options), .replicas = options.replicas};
  if (config.text("train.phase") == "dyna")
    playing.branch_steps = learner::dyna_options_from(config).branch_steps;
  actors::DreamActor actor(link, playing, std::move(real), clock);
  actor.run(stopped);
  log_info("played {} episodes, {} steps", actor.episodes(), actor.steps());
}

}  // namespace regraft::launch
