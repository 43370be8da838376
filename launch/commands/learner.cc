#include <cstdio>
#include <filesystem>
#include <optional>
#include <stop_token>

#include "actors/environment_pool.h"
#include "core/base/log.h"
#include "core/nn/device.h"
#include "core/nn/error.h"
#include "core/wire/error.h"
#include "launch/commands/commands.h"
#include "launch/dream_job.h"
#include "launch/job.h"
#include "launch/job_notes.h"
#include "launch/signals.h"
#include "launch/world_job.h"
#include "replay/error.h"

namespace regraft::launch {
namespace {

struct Options {
  learner::RunFolder folder;
  std::uint64_t incarnation = 1;
};

/// The phases collect and world-model.
int run_world_phase(const Options& options) {
  std::stop_source stop;
  std::atomic<learner::WorldPhase*> running = nullptr;
  const WorkerSignals signals([&] { stop.request_stop(); },
                              [&] {
                                if (learner::WorldPhase* phase = running) phase->save();
                              });
  start_log("info", "learner", options.folder.log());
  const Config config = load_run_config(options.folder);
  log_notes(config);
  nn::set_torch_threads(static_cast<int>(config.integer("train.threads")));
  const SystemClock clock;
  actors::EnvironmentPool environments(actors::workload_options_from(config), clock);
  std::optional<learner::WorldPhase> phase;
  try {
    phase.emplace(world_setup(options.folder, config,
                              [&](std::uint32_t model) -> env::Environment& {
                                return environments.environment(model);
                              }),
                  clock);
  } catch (const wire::WireError& error) {
    if (error.fault() != wire::WireFault::kAddress) throw;
    log_error("{}", error.what());
    return kForGood;
  }
  log_info("generation {}, {}", phase->generation(), nn::torch_description());
  running = &*phase;
  learner::WorldPhaseSummary summary;
  try {
    summary = phase->run(stop.get_token());
  } catch (const replay::ReplayError& error) {  // episodes that do not fit the job fit no better next time
    log_error("{}", error.what());
    return kForGood;
  } catch (const nn::NnError& error) {
    log_error("{}", error.what());
    return kForGood;
  }
  running = nullptr;
  std::printf("%s", summary.text().c_str());
  if (summary.finished) std::printf("results: %s\n", learner::WorldFolder(options.folder).root.c_str());
  for (const std::string& problem : summary.books.check())
    std::printf("BOOKS DO NOT BALANCE: %s\n", problem.c_str());
  std::fflush(stdout);
  return summary.books.check().empty() ? kDone : kForGood;
}

int run_learner(const Options& options) {
  const Config config = load_run_config(options.folder);
  if (is_dream_phase(config)) return run_dream_learner(options.folder, config);
  if (config.text("train.phase") != "ppo") return run_world_phase(options);
  std::stop_source stop;
  std::atomic<learner::Learner*> running = nullptr;
  const WorkerSignals signals([&] { stop.request_stop(); },
                              [&] {
                                if (learner::Learner* learner = running) learner->save();
                              });
  start_log("info", "learner", options.folder.log());
  log_notes(config);
  nn::set_torch_threads(static_cast<int>(config.integer("train.threads")));
  const SystemClock clock;
  learner::LearnerSetup setup = learner_setup(options.folder, config);
  const std::vector<std::string> names = setup.model_names;
  std::optional<learner::Learner> made;
  try {
    made.emplace(std::move(setup), clock);
  } catch (const wire::WireError& error) {
    if (error.fault() != wire::WireFault::kAddress) throw;
    log_error("{}", error.what());
    return kForGood;
  }
  learner::Learner& learner = *made;
  log_info("generation {}, {}", learner.generation(), nn::torch_description());
  running = &learner;
  const learner::LearnerSummary summary = learner.run(stop.get_token());
  running = nullptr;
  std::printf("%s", summary.text(names).c_str());
  std::printf("policy: %s\n", options.folder.latest_policy().c_str());
  for (const std::string& problem : summary.books.check())
    std::printf("BOOKS DO NOT BALANCE: %s\n", problem.c_str());
  std::fflush(stdout);
  return summary.books.check().empty() && summary.trained_twice == 0 ? kDone : kForGood;
}

}  // namespace

void add_learner(CLI::App& program, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command = program.add_subcommand("learner", "the learner's worker process of a prepared run");
  command->group("");  // started by train
  command->add_option("--run", options->folder.root, "run folder")->required();
  command->add_option("--incarnation", options->incarnation, "number of this start");
  command->callback([options, &action] { action = [options] { return run_learner(*options); }; });
}

}  // namespace regraft::launch
