#include "launch/dream_job.h"

#include <atomic>
#include <cstdio>
#include <optional>

#include "actors/dream_actor.h"
#include "core/base/log.h"
#include "core/nn/device.h"
#include "core/nn/error.h"
#include "core/wire/error.h"
#include "launch/commands/commands.h"
#include "launch/job_notes.h"
#include "launch/signals.h"
#include "launch/world_job.h"
#include "learner/controller/dream_phase.h"

namespace regraft::launch {
namespace {

learner::DreamPhaseSetup dream_setup(const learner::RunFolder& folder, const Config& config) {
  learner::DreamPhaseSetup setup;
  setup.folder = folder;
  setup.options = learner::learner_options_from(config);
  setup.ppo = learner::ppo_options_from(config);
  setup.dream = learner::dream_options_from(config);
  if (config.text("train.phase") == "dyna") setup.dyna = learner::dyna_options_from(config);
  setup.config_toml = config.to_toml();
  setup.job = world_context(config);
  return setup;
}

}  // namespace

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

int run_dream_learner(const learner::RunFolder& folder, const Config& config) {
  std::stop_source stop;
  std::atomic<learner::DreamPhase*> running = nullptr;
  const WorkerSignals signals([&] { stop.request_stop(); },
                              [&] {
                                if (learner::DreamPhase* phase = running) phase->save();
                              });
  start_log("info", "learner", folder.log());
  log_notes(config);
  nn::set_torch_threads(static_cast<int>(config.integer("train.threads")));
  const SystemClock clock;
  std::optional<learner::DreamPhase> phase;
  try {
    phase.emplace(dream_setup(folder, config), clock);
  } catch (const wire::WireError& error) {
    if (error.fault() != wire::WireFault::kAddress) throw;
    log_error("{}", error.what());
    return kForGood;
  } catch (const nn::NnError& error) {  // a world model that does not fit fits no better next time
    log_error("{}", error.what());
    return kForGood;
  }
  log_info("generation {}, {}", phase->generation(), nn::torch_description());
  running = &*phase;
  const learner::DreamPhaseSummary summary = phase->run(stop.get_token());
  running = nullptr;
  std::printf("%sbundle: %s\n", summary.text().c_str(), (folder.policies() / "latest.world").c_str());
  for (const std::string& problem : summary.books.check())
    std::printf("BOOKS DO NOT BALANCE: %s\n", problem.c_str());
  std::fflush(stdout);
  return summary.books.check().empty() ? kDone : kForGood;
}

void run_dream_actor(wire::Link& link, const std::string& kind, const Config& config, const Clock& clock,
                     const std::stop_token& stopped) {
  const learner::DreamPhaseOptions options = learner::dream_options_from(config);
  std::optional<actors::WorkloadOptions> real;
  if (kind == kControllerKind) real = actors::workload_options_from(config);
  actors::DreamActorOptions playing{.dream = learner::dream_of(options), .replicas = options.replicas};
  if (config.text("train.phase") == "dyna")
    playing.branch_steps = learner::dyna_options_from(config).branch_steps;
  actors::DreamActor actor(link, playing, std::move(real), clock);
  actor.run(stopped);
  log_info("played {} episodes, {} steps", actor.episodes(), actor.steps());
}

}  // namespace regraft::launch
