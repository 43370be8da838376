#include "launch/job/learner_process.h"

#include <atomic>
#include <cstdio>
#include <memory>
#include <optional>
#include <stop_token>

#include "core/base/log.h"
#include "core/nn/device.h"
#include "core/nn/error.h"
#include "core/task/environment_pool.h"
#include "core/task/workload.h"
#include "core/wire/error.h"
#include "launch/call/exit_code.h"
#include "launch/job/config_warnings.h"
#include "launch/job/dream_job.h"
#include "launch/job/job_config.h"
#include "launch/job/ppo_job.h"
#include "launch/job/worker_signals.h"
#include "launch/job/world_job.h"
#include "learner/job/learner_error.h"

namespace regraft::launch {
namespace {

/// The environments of a world model's phases; they and the clock outlive the phase.
std::unique_ptr<learner::Phase> make_phase(const learner::RunFolder& folder, const Config& config,
                                           std::optional<task::EnvironmentPool>& environments,
                                           const Clock& clock) {
  if (is_dream_phase(config)) return learner::make_dream_phase(dream_setup(folder, config));
  const std::string phase = config.text("train.phase");
  if (phase == "ppo") return learner::make_ppo_phase(ppo_setup(folder, config));
  if (phase != "collect" && phase != "world-model")
    throw UsageError("a learner's process has no phase " + phase, "train.phase",
                     "start it by `regraft train`");
  environments.emplace(task::workload_options_from(config), clock);
  const auto environment_of = [&environments](std::uint32_t model) -> env::Environment& {
    return environments->environment(model);
  };
  return learner::make_world_phase(world_setup(folder, config, environment_of), clock);
}

int report(const learner::JobSummary& summary) {
  std::printf("%s", summary.text.c_str());
  for (const std::string& problem : summary.ticket_counts.check())
    std::printf("TICKET COUNTS DO NOT BALANCE: %s\n", problem.c_str());
  std::fflush(stdout);
  return summary.sound ? kDone : kForGood;
}

}  // namespace

int run_learner_process(const learner::RunFolder& folder) {
  std::stop_source stop;
  std::atomic<learner::JobRunner*> running = nullptr;
  const WorkerSignals signals([&] { stop.request_stop(); },
                              [&] {
                                if (learner::JobRunner* runner = running) runner->save();
                              });
  start_log("info", "learner", folder.log());
  const Config config = load_run_config(folder);
  log_config_warnings(config);
  nn::set_torch_threads(static_cast<int>(config.integer("train.threads")));
  const SystemClock clock;
  std::optional<task::EnvironmentPool> environments;
  std::optional<learner::JobRunner> runner;
  try {
    runner.emplace(job_setup(folder, config), make_phase(folder, config, environments, clock), clock);
  } catch (const wire::WireError& error) {
    if (error.fault() != wire::WireFault::kAddress) throw;
    log_error("{}", error.what());
    return kForGood;
  } catch (
      const nn::NnError& error) {  // a network or a world model that does not fit fits no better next time
    log_error("{}", error.what());
    return kForGood;
  }
  log_info("generation {}, {}", runner->generation(), nn::torch_description());
  running = &*runner;
  try {
    const learner::JobSummary summary = runner->run(stop.get_token());
    running = nullptr;
    return report(summary);
  } catch (const learner::LearnerError& error) {
    running = nullptr;
    log_error("{}", error.what());
    return kForGood;
  }
}

}  // namespace regraft::launch
