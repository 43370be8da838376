#include <filesystem>
#include <optional>

#include "core/base/text.h"
#include "launch/cli/commands.h"
#include "launch/job/job_config.h"
#include "launch/job/job_sizes.h"
#include "launch/job/model_based.h"
#include "launch/job/mpi_session.h"
#include "launch/job/phases.h"
#include "launch/job/prepared_run.h"
#include "launch/job/process_group.h"

namespace regraft::launch {
namespace {

struct TrainArguments {
  std::optional<std::filesystem::path> config;
  std::filesystem::path run;
  std::vector<std::string> settings, bindings;
  bool resume = false;
};

/// One phase: everything is checked before anything is written.
int run_phase(const learner::RunFolder& folder, Config config, bool resume, ProcessGroup& group) {
  const ActorCount actors = group.actors(config);
  if (actors.all() == 0)
    throw UsageError("a job without actors learns nothing", "actors.count", "use at least 1");
  check_job(folder, config, actors);
  const PreparedRun prepared = prepare(folder, std::move(config), resume);
  return group.run(folder);
}

int run_job(const TrainArguments& options, ProcessGroup& group) {
  const learner::RunFolder folder{std::filesystem::absolute(options.run)};
  check_folder(folder, options.resume);
  const bool reuse = options.resume && !options.config && std::filesystem::exists(folder.config());
  Config config = load_job_config(reuse ? std::optional(folder.config()) : options.config, options.settings);
  if (!options.bindings.empty()) config.set("workload.bind=" + join(options.bindings, ","));
  if (options.resume)
    bind_sizes_of(folder, config);
  else
    bind_sizes(config);
  if (!job_phase(config).make) return run_model_based(folder, std::move(config), options.resume, group);
  return run_phase(folder, std::move(config), options.resume, group);
}

int lead(const TrainArguments& options, MpiSession& mpi) {
  LeadingProcessGroup group(mpi);
  int code = kFailed;
  try {
    code = run_job(options, group);
  } catch (...) {
    group.dismiss(true);
    throw;
  }
  if (code != 0) leave_job(code);
  group.dismiss(false);
  return code;
}

int train(const TrainArguments& options) {
  Supervisor::block_signals();
  if (!started_by_mpi()) {
    LocalProcessGroup group;
    return run_job(options, group);
  }
  MpiSession mpi;
  if (mpi.size() < 2)
    throw UsageError("one rank has nobody to learn from", "mpirun",
                     "start at least 2 ranks (-n 2), or leave mpirun out");
  return mpi.rank() == 0 ? lead(options, mpi) : follow(mpi);
}

}  // namespace

void add_train(Command& program, Action& action) {
  auto options = std::make_shared<TrainArguments>();
  Command* command = program.add_subcommand(
      "train", "train a policy: with actors of its own, or as the ranks of `mpirun -n K regraft train`");
  command->add_option("--config", options->config,
                      "a TOML file; configs/NAME.toml: a preset of the installation, found from any folder");
  command->add_option("--run", options->run, "the run's folder, made if it is missing")->required();
  command->add_option("--set", options->settings,
                      "override one key: ppo.learning_rate=1e-4; may be repeated");
  command
      ->add_option("--bind", options->bindings,
                   "sizes of dynamic dims: batch=8,seq=128; the same as --set workload.bind=... (default: "
                   "found by trying)")
      ->delimiter(',');
  command->add_flag("--resume", options->resume, "go on with the run in that folder");
  command->callback([options, &action] { action = [options] { return train(*options); }; });
}

}
