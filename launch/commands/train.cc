#include <fcntl.h>
#include <sys/file.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/wire/keys.h"
#include "launch/commands/commands.h"
#include "launch/dream_job.h"
#include "launch/job.h"
#include "launch/mpi_session.h"
#include "launch/supervisor.h"

namespace regraft::launch {
namespace {

struct Options {
  std::optional<std::filesystem::path> config;
  std::filesystem::path run;
  std::vector<std::string> settings;
  bool resume = false;
};

std::string program_path() {
  return std::filesystem::read_symlink("/proc/self/exe").string();
}

SupervisorOptions supervisor_options() {
  SupervisorOptions options;
  options.report = [](const std::string& line) { std::fprintf(stderr, "regraft: %s\n", line.c_str()); };
  return options;
}

WorkerSpec learner_spec(const learner::RunFolder& folder) {
  return {"learner", {program_path(), "learner", "--run", folder.root.string()}, true};
}

/// The first actors of the phase `dream` dream, as many as the config says; the others play real
/// environments.
WorkerSpec actor_spec(const learner::RunFolder& folder, const std::string& name, std::int64_t number,
                      const std::filesystem::path& key) {
  std::vector<std::string> words{
      program_path(), "actor",  "--join", folder.run_file().string(), "--run", folder.root.string(), "--key",
      key.string(),   "--name", name};
  const Config config = load_run_config(folder);
  if (is_dream_phase(config)) {
    words.emplace_back("--kind");
    words.emplace_back(number <= config.integer("actors.dream") ? kDreamKind : kControllerKind);
  }
  return {name, std::move(words), false};
}

/// The run folder and config, ready for workers. A run file of an earlier generation would mislead actors
/// that start first.
struct Prepared {
  Config config;
  FileDescriptor lock;  // held while the job runs: a second one in the same folder would shut out its actors
};

FileDescriptor lock_run(const learner::RunFolder& folder) {
  FileDescriptor lock(open((folder.root / ".lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
  if (!lock || flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
    throw LaunchError("cannot be locked: a job is running in it, or it is not writable", folder.root.string(),
                      "wait for that job, or choose another --run folder");
  return lock;
}

Prepared prepare(const Options& options, const learner::RunFolder& folder) {
  const bool reuse = options.resume && !options.config && std::filesystem::exists(folder.config());
  Config config = load_job_config(reuse ? std::optional(folder.config()) : options.config, options.settings);
  if (actors::workload_options_from(config).models.empty())
    throw UsageError("no model to train on", "workload.models",
                     "give --set workload.models=FILE.onnx or a --config that does");
  learner_setup(folder, config);  // rules and options are checked before anything is written
  FileDescriptor lock;
  if (std::filesystem::exists(folder.root)) lock = lock_run(folder);
  config = prepare_run(folder, std::move(config), options.resume);
  if (!lock) lock = lock_run(folder);
  std::filesystem::remove(folder.run_file());
  std::filesystem::remove(folder.summary());
  return {std::move(config), std::move(lock)};
}

int train_here(const Options& options, const learner::RunFolder& folder) {
  const Prepared prepared = prepare(options, folder);
  const TempDir keys("regraft-keys");
  wire::AuthorisedKeys authorised(folder.authorised());
  std::vector<WorkerSpec> workers{learner_spec(folder)};
  const std::int64_t dreaming =
      is_dream_phase(prepared.config) ? prepared.config.integer("actors.dream") : std::int64_t{0};
  if (is_dream_phase(prepared.config)) check_dream_actors(prepared.config);
  const std::int64_t actors = dreaming + prepared.config.integer("actors.count");
  if (actors == 0) throw UsageError("a job without actors learns nothing", "actors.count", "use at least 1");
  for (std::int64_t i = 1; i <= actors; ++i) {
    const std::string name = "actor-" + std::to_string(i);
    const std::filesystem::path key = keys.path() / (name + ".key");
    authorised.add(name, wire::load_or_make_key_pair(key).public_key);
    workers.push_back(actor_spec(folder, name, i, key));
  }
  const SystemClock clock;
  return Supervisor(std::move(workers), supervisor_options(), clock).run();
}

/// Each rank sends its public key; rank 0 lets them join and tells everyone the run folder, or that it
/// failed.
int train_rank(const Options& options, const learner::RunFolder& folder) {
  MpiSession mpi;
  if (mpi.size() < 2)
    throw UsageError("one rank has nobody to learn from", "mpirun",
                     "start at least 2 ranks (-n 2), or leave mpirun out");
  const TempDir keys("regraft-keys");
  const std::string name = "actor-" + std::to_string(mpi.rank());
  const std::filesystem::path key = keys.path() / (name + ".key");
  const std::vector<std::string> public_keys = mpi.gather(wire::load_or_make_key_pair(key).public_key);
  nlohmann::json word;
  std::exception_ptr failure;
  std::optional<Prepared> prepared;
  if (mpi.rank() == 0) {
    try {
      prepared.emplace(prepare(options, folder));
      wire::AuthorisedKeys authorised(folder.authorised());
      for (std::size_t rank = 1; rank < public_keys.size(); ++rank)
        authorised.add("actor-" + std::to_string(rank), public_keys[rank]);
      word["run"] = folder.root.string();
    } catch (...) {
      failure = std::current_exception();
      word["failed"] = true;
    }
  }
  word = nlohmann::json::parse(mpi.broadcast(word.dump()));
  if (failure) std::rethrow_exception(failure);
  if (word.contains("failed")) return kUsage;  // rank 0 says why
  const learner::RunFolder shared{word.at("run").get<std::string>()};
  const SystemClock clock;
  const WorkerSpec worker =
      mpi.rank() == 0 ? learner_spec(shared) : actor_spec(shared, name, mpi.rank(), key);
  const int code = Supervisor({worker}, supervisor_options(), clock).run();
  if (code != 0) {
    // Finalising would wait for ranks that cannot know of this: mpirun ends the job when a rank leaves
    // without it.
    std::filesystem::remove_all(keys.path());
    std::_Exit(code);
  }
  return code;
}

int train(const Options& options) {
  Supervisor::block_signals();
  const learner::RunFolder folder{std::filesystem::absolute(options.run)};
  return started_by_mpi() ? train_rank(options, folder) : train_here(options, folder);
}

}  // namespace

void add_train(CLI::App& program, Action& action) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      program.add_subcommand("train", "train a policy: alone, or as ranks of `mpirun -n K regraft train`");
  command->add_option("--config", options->config, "a TOML preset (configs/*.toml)")
      ->check(CLI::ExistingFile);
  command->add_option("--run", options->run, "the run's folder, made if it is missing")->required();
  command->add_option("--set", options->settings, "override one key: ppo.lr=1e-4; may be repeated");
  command->add_flag("--resume", options->resume, "go on with the run of that folder");
  command->callback([options, &action] { action = [options] { return train(*options); }; });
}

}  // namespace regraft::launch
