#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>

#include "core/base/log.h"
#include "core/nn/inference/device.h"
#include "launch/cli/commands.h"
#include "launch/job/job_config.h"
#include "launch/job/join_run.h"
#include "launch/job/phases.h"
#include "launch/job/worker_signals.h"

namespace regraft::launch {
namespace {

struct ActorArguments {
  std::string join;
  std::optional<std::filesystem::path> run;
  std::filesystem::path key;
  std::string name;
  std::optional<std::string> kind;
  std::uint64_t incarnation = 0;  // of one that is started by hand, and tells what it does
};

int run_actor(const ActorArguments& options) {
  std::stop_source stop;
  const WorkerSignals signals([&] { stop.request_stop(); }, [] {});
  start_log(options.incarnation > 0 ? "warning" : "info", options.name);
  nn::set_torch_threads(1);
  const learner::RunFolder folder = folder_of(options.join, options.run);
  const Config config = load_run_config(folder);
  const SystemClock clock;
  wire::LinkOptions link_options;
  link_options.locate = locate_run(options.join, folder, stop.get_token());
  link_options.keys = wire::load_key_pair(options.key);
  link_options.actor = options.name;
  const JobPhase& phase = job_phase(config);
  if (!phase.act)
    throw UsageError("the phase " + std::string(phase.name) + " has no actors of its own", "train.phase",
                     "join the run of one of its rounds");
  const std::string kind = options.kind.value_or(std::string(phase.actor_kind));
  if (kind.empty() || (kind != phase.actor_kind && kind != phase.dreaming_kind))
    throw UsageError("the job has no actors of the kind " + kind, "--kind",
                     phase.dreaming_kind.empty() ? "leave it out"
                                                 : "use " + std::string(phase.dreaming_kind) + " or " +
                                                       std::string(phase.actor_kind));
  link_options.kind = kind;
  link_options.incarnation = options.incarnation;
  link_options.tickets_wanted = static_cast<std::uint32_t>(config.integer("wire.tickets_per_actor"));
  link_options.connect_timeout_ms = 60000;
  link_options.stopped = stop.get_token();
  return work_in_run(folder, [&] {
    wire::Link link(link_options, clock);
    phase.act({link, kind, config, clock, stop.get_token(), link_options});
  });
}

}  // namespace

void add_actor(Command& program, Action& action) {
  auto options = std::make_shared<ActorArguments>();
  Command* command = program.add_subcommand("actor", "join a running job as an actor");
  command->add_option("--join", options->join, "the run file (RUN/run.json, or a relay's) or URL of the job")
      ->required();
  command->add_option("--run", options->run, "the run folder, where --join is a URL or a file elsewhere");
  command->add_option("--key", options->key, "this actor's key pair, made by `regraft keys add`")->required();
  command
      ->add_option("--name", options->name,
                   "its name, unique among those that join the same learner or relay")
      ->required();
  command->add_option("--kind", options->kind,
                      "kind of actor, in the phases dream and dyna: dream or controller");
  command->add_option("--incarnation", options->incarnation,
                      "counts its starts: whoever restarts the actor raises it");
  command->callback([options, &action] { action = [options] { return run_actor(*options); }; });
}

}
