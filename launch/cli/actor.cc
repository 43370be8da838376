#include <filesystem>
#include <optional>
#include <stop_token>
#include <utility>

#include "actors/collector.h"
#include "actors/policy_actor.h"
#include "core/base/log.h"
#include "core/nn/device.h"
#include "core/task/workload.h"
#include "core/wire/error.h"
#include "core/wire/run_info.h"
#include "launch/cli/commands.h"
#include "launch/evaluate/runtime_meter.h"
#include "launch/job/dream_job.h"
#include "launch/job/job_config.h"
#include "launch/job/ppo_job.h"
#include "launch/job/worker_signals.h"
#include "launch/job/world_job.h"

namespace regraft::launch {
namespace {

struct Options {
  std::string join;
  std::optional<std::filesystem::path> run;
  std::filesystem::path key;
  std::string name;
  std::optional<std::string> kind;
  std::uint64_t incarnation = 1;
};

/// The run folder: given, or where the run file lies. An actor on another machine needs it on a shared file
/// system.
learner::RunFolder folder_of(const Options& options) {
  if (options.run) return {*options.run};
  if (options.join.starts_with("regraft://"))
    throw UsageError("a URL does not say where the run's config lies", "--join", "give --run FOLDER too");
  return {std::filesystem::absolute(options.join).parent_path()};
}

int run_actor(const Options& options) {
  std::stop_source stop;
  const WorkerSignals signals([&] { stop.request_stop(); }, [] {});
  start_log("warning", options.name);
  nn::set_torch_threads(1);
  const learner::RunFolder folder = folder_of(options);
  const Config config = load_run_config(folder);
  const SystemClock clock;
  wire::LinkOptions link_options;
  link_options.locate = [join = options.join, folder, stopped = stop.get_token()] {
    if (stopped.stop_requested())
      throw wire::WireError(wire::WireFault::kClosed, "asked to stop", folder.root.string(), "");
    if (std::filesystem::exists(folder.summary()))
      throw wire::WireError(wire::WireFault::kClosed, "the run has ended", folder.root.string(), "");
    return wire::RunInfo::from_url_or_file(join);
  };
  link_options.keys = wire::load_key_pair(options.key);
  link_options.actor = options.name;
  const bool dreams = is_dream_phase(config);
  const std::string phase = config.text("train.phase");
  const bool collects = phase == "collect" || phase == "world-model";
  if (!dreams && !collects && phase != "ppo")
    throw UsageError("the phase " + phase + " has no actors of its own", "train.phase",
                     "join the run of one of its rounds");
  const std::string kind = options.kind.value_or(dreams ? kControllerKind : collects ? "collect" : "policy");
  if (dreams != (kind == kDreamKind || kind == kControllerKind))
    throw UsageError("the job has no actors of this kind", "--kind",
                     dreams ? "use dream or controller" : "leave it out");
  link_options.kind = kind;
  link_options.incarnation = options.incarnation;
  link_options.tickets_wanted = static_cast<std::uint32_t>(config.integer("wire.tickets_per_actor"));
  link_options.connect_timeout_ms = 60000;
  try {
    wire::Link link(std::move(link_options), clock);
    if (dreams) {
      run_dream_actor(link, kind, config, clock, stop.get_token());
      return kDone;
    }
    if (collects) {
      task::WorkloadOptions workload = task::workload_options_from(config);
      replay::Chooser choose = collecting_chooser(config, task::load_rules(workload));
      actors::Collector collector(link, std::move(workload), std::move(choose), clock);
      collector.run(stop.get_token());
      log_info("played {} episodes, {} steps", collector.episodes(), collector.steps());
      return kDone;
    }
    task::WorkloadOptions workload = task::workload_options_from(config);
    workload.make_meter = [](const task::Task& task) { return make_runtime_meter(task); };
    const nn::NetworkConfig network = job_network(config, task::load_rules(workload).size());
    actors::PolicyActor actor(link, workload, network, clock);
    actor.run(stop.get_token());
    log_info("played {} episodes, {} policy steps", actor.episodes(), actor.policy_steps());
  } catch (const wire::WireError& error) {
    // An actor that starts late may look for a learner that has finished.
    if (error.fault() == wire::WireFault::kClosed || std::filesystem::exists(folder.summary())) return kDone;
    const bool for_good = error.fault() == wire::WireFault::kKey ||
                          error.fault() == wire::WireFault::kRefused ||
                          error.fault() == wire::WireFault::kTimeout;
    if (!for_good) throw;
    log_error("{}", error.what());
    return kForGood;
  }
  return kDone;
}

}  // namespace

void add_actor(Command& program, Action& action) {
  auto options = std::make_shared<Options>();
  Command* command = program.add_subcommand("actor", "an actor that joins a running job");
  command->add_option("--join", options->join, "the run file (RUN/run.json) or URL of the job")->required();
  command->add_option("--run", options->run, "the run folder, where the URL is given");
  command->add_option("--key", options->key, "this actor's key pair, made by `regraft keys add`")->required();
  command->add_option("--name", options->name, "unique in the job")->required();
  command->add_option("--kind", options->kind, "of actor, in the phase dream: dream or controller");
  command->add_option("--incarnation", options->incarnation,
                      "number of this start, raised by who restarts it");
  command->callback([options, &action] { action = [options] { return run_actor(*options); }; });
}

}  // namespace regraft::launch
