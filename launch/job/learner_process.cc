#include "launch/job/learner_process.h"

#include <atomic>
#include <cstdio>
#include <optional>
#include <stop_token>
#include <string>

#include "core/base/log.h"
#include "core/base/named_by_config.h"
#include "core/nn/inference/device.h"
#include "core/nn/model/nn_error.h"
#include "core/wire/wire_error.h"
#include "launch/call/exit_code.h"
#include "launch/job/config_warnings.h"
#include "launch/job/job_config.h"
#include "launch/job/job_setup.h"
#include "launch/job/phases.h"
#include "launch/job/worker_signals.h"
#include "learner/job/checkpoint.h"
#include "learner/job/learner_error.h"
#include "learner/job/learner_group.h"
#include "learner/job/learner_options.h"

namespace regraft::launch {
namespace {

int report(const learner::JobSummary& summary) {
  std::printf("%s", summary.text.c_str());
  for (const std::string& problem : summary.ticket_counts.check())
    std::printf("TICKET COUNTS DO NOT BALANCE: %s\n", problem.c_str());
  std::fflush(stdout);
  return summary.sound ? kDone : kForGood;
}

/// LibTorch of this process, before it computes anything.
learner::LearnerOptions set_up_torch(const Config& config) {
  learner::LearnerOptions options = learner::learner_options_from(config);
  if (job_phase(config).computes) nn::resolve_device(options.device);
  nn::set_torch_threads(options.threads);
  nn::allow_tf32(options.tf32);
  return options;
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
  const JobPhase& phase = job_phase(config);
  if (!phase.make)
    throw UsageError("the phase " + std::string(phase.name) + " has no learner of its own", "train.phase",
                     "start it by `regraft train`");
  log_config_warnings(config);
  const SystemClock clock;
  std::optional<learner::JobRunner> runner;
  try {
    const learner::LearnerOptions options = set_up_torch(config);
    learner::JoinLearners join;
    if (options.learners > 1)
      join = [=, stopped = stop.get_token()] {
        return learner::lead_learners(folder, options, [=] { return stopped.stop_requested(); });
      };
    runner.emplace(job_setup(folder, config), phase.make({folder, config, clock, join}), clock);
  } catch (const wire::WireError& error) {
    if (error.fault() != wire::WireFault::kAddress) throw;
    log_error("{}", error.what());
    return kForGood;
  } catch (const learner::CheckpointError& error) {
    log_error("{}", error.what());
    return kForGood;
  } catch (const nn::NnError& error) {  // no such device; a network or world model that does not fit
    log_error("{}", error.what());
    return kForGood;
  }
  log_info("generation {}, {}", runner->generation(), nn::torch_description());
  running = &*runner;
  try {
    const learner::JobSummary summary = runner->run(stop.get_token());
    running = nullptr;
    return report(summary);
  } catch (const wire::WireError& error) {  // of learners that share the updates
    running = nullptr;
    if (error.fault() != wire::WireFault::kAddress) throw;
    log_error("{}", error.what());
    return kForGood;
  } catch (const learner::LearnerError& error) {
    running = nullptr;
    log_error("{}", error.what());
    return kForGood;
  }
}

int run_peer_process(const learner::RunFolder& folder, std::uint32_t rank, const std::filesystem::path& key) {
  std::atomic<bool> stopped = false;  // the first learner saves, and says when all are to end: it may be gone
  const WorkerSignals signals([&] { stopped = true; }, [] {});
  start_log("warning", "learner-" + std::to_string(rank));
  const Config config = load_run_config(folder);
  const JobPhase& phase = job_phase(config);
  const SystemClock clock;
  const auto check_run = [&] {
    if (std::filesystem::exists(folder.summary()))
      throw wire::WireError(wire::WireFault::kClosed, "the run has ended", folder.root.string(), "");
  };
  try {
    const learner::LearnerOptions options = set_up_torch(config);
    const auto join = [&] {
      return learner::join_learners(folder, options, rank, key, check_run, [&] { return stopped.load(); });
    };
    phase.follow({folder, config, clock, join});
  } catch (const wire::WireError& error) {
    if (error.fault() != wire::WireFault::kClosed) throw;
  }
  return kDone;
}

}
