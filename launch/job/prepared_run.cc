#include "launch/job/prepared_run.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <span>
#include <thread>

#include "core/base/atomic_file.h"
#include "core/base/clock.h"
#include "core/base/named_by_config.h"
#include "core/task/workload.h"
#include "core/wire/keys.h"
#include "core/wire/run_info.h"
#include "launch/job/job_config.h"
#include "launch/job/launch_error.h"
#include "launch/job/phases.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;

void make_folder(const learner::RunFolder& folder) {
  std::error_code problem;
  fs::create_directories(folder.root, problem);
  if (problem)
    throw FileError("cannot be made: " + problem.message(), folder.root.string(),
                    "choose a writable --run folder");
}

FileDescriptor lock_run(const learner::RunFolder& folder) {
  FileDescriptor lock(open((folder.root / ".lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
  if (!lock) throw_errno("cannot be written", folder.root, errno);
  if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
    throw LaunchError("a job is running in it", folder.root.string(),
                      "wait for that job, or choose another --run folder");
  return lock;
}

/// The learner of a supervisor that was killed saves before it ends, and holds the journal until then. What
/// it writes at last must not look as if it came from the next one.
void await_learner(const learner::RunFolder& folder) {
  constexpr std::chrono::milliseconds pause{50};
  constexpr std::chrono::seconds patience{120};
  for (std::chrono::milliseconds waited{0};; waited += pause) {
    // Opened each time: a learner that shortens it puts another file in its place.
    const FileDescriptor journal(open(folder.journal().c_str(), O_RDWR | O_CLOEXEC));
    if (!journal || flock(journal.get(), LOCK_EX | LOCK_NB) == 0)
      return;  // none was ever started, or it ended
    if (waited == waited.zero())
      std::fprintf(stderr, "regraft: waiting for the learner of an earlier start to save and end\n");
    if (waited >= patience)
      throw LaunchError("a learner of an earlier start still runs in it", folder.root.string(),
                        "end that process first");
    std::this_thread::sleep_for(pause);
  }
}

/// Whether the run only gets further models: those that it had keep their numbers.
bool only_grows(const ConfigDifference& difference, const Config& before, const Config& now) {
  if (difference.name != "workload.models" || !job_phase(now).grows) return false;
  const auto models = [&](const Config& config) {
    return task::expanded_models(config.list(difference.name));
  };
  const std::vector<std::string> had = models(before), has = models(now);
  return had.size() <= has.size() && std::ranges::equal(had, std::span(has).first(had.size()));
}

/// The config in force.
Config prepare_run(const learner::RunFolder& folder, Config config, bool resume) {
  check_folder(folder, resume);
  if (resume) {
    std::vector<ConfigDifference> fixed;
    const Config before = load_run_config(folder);
    for (const ConfigDifference& difference : differences(before, config))
      if (difference.fixed_on_resume && !only_grows(difference, before, config)) fixed.push_back(difference);
    if (!fixed.empty())
      throw LaunchError("options that are fixed for a run differ:\n" + describe(fixed), folder.root.string(),
                        "resume with the values it was started with");
  }
  make_run(folder, config);
  return config;
}

/// A run file of an earlier generation would mislead actors that start first.
PreparedRun made_ready(const learner::RunFolder& folder, Config config, FileDescriptor lock) {
  await_learner(folder);
  fs::remove(folder.run_file());
  fs::remove(folder.learners_file());
  fs::remove_all(folder.relays());
  fs::remove(folder.summary());
  return {std::move(config), std::move(lock)};
}

}  // namespace

void check_folder(const learner::RunFolder& folder, bool resume) {
  if (fs::exists(folder.root) && !fs::is_directory(folder.root))
    throw UsageError("is no folder", "--run " + folder.root.string(), "name a folder; it is made if missing");
  const bool exists = fs::exists(folder.run_id());
  if (resume && !exists)
    throw LaunchError("there is no run to resume", folder.root.string(), "leave out --resume to start one");
  if (exists && !resume)
    throw LaunchError("the folder holds a run", folder.root.string(),
                      "go on with --resume, or choose another --run folder");
}

void check_job(const learner::RunFolder& folder, const Config& config, ActorCount actors) {
  task::WorkloadOptions workload = task::workload_options_from(config);
  const std::vector<std::string>& models = workload.models;
  if (models.empty())
    throw UsageError("no model to train on", "workload.models",
                     "give --set workload.models=FILE.onnx or a --config that does");
  for (const std::string& model : models)
    if (!task::is_generated(model) && !fs::exists(model))
      throw UsageError("there is no such model", model, "name an ONNX file in workload.models");
  const JobPhase& phase = job_phase(config);
  const std::string name(phase.name);
  if (config.integer("train.learners") > 1 && phase.make != nullptr && phase.follow == nullptr)
    throw UsageError("the phase " + name + " has one learner", "train.learners", "leave it out");
  const bool measured = config.text("workload.reward") == enum_name(env::RewardKind::measured);
  if (!phase.measures && measured)
    throw UsageError("the phase " + name + " has nothing to measure with", "workload.reward",
                     "use another reward, or train.phase=ppo");
  if (config.flag("train.deterministic") && measured)
    throw UsageError("what is measured differs each time, so it is not deterministic", "workload.reward",
                     "use another reward, or leave out train.deterministic");
  const SystemClock clock;
  phase.check({folder, config, clock}, actors);
  workload.environment.reward = env::RewardKind::incremental;  // nothing is measured yet
  for (std::size_t i = 0; i < models.size(); ++i)  // what actors cannot load they would try for ever
    if (i == 0 || !task::is_generated(models[i])) named_by_config([&] { task::load_task(workload, i); });
}

void make_run(const learner::RunFolder& folder, const Config& config) {
  make_folder(folder);
  const bool exists = fs::exists(folder.run_id());
  if (!exists) wire::AuthorisedKeys(folder.authorised());
  write_file_atomic(folder.config(), config.to_toml());
  if (!exists) write_file_atomic(folder.run_id(), wire::make_run_id() + "\n");  // last: now it is a run
}

PreparedRun prepare(const learner::RunFolder& folder, Config config, bool resume) {
  FileDescriptor lock;
  if (fs::exists(folder.root)) lock = lock_run(folder);
  config = prepare_run(folder, std::move(config), resume);
  if (!lock) lock = lock_run(folder);
  return made_ready(folder, std::move(config), std::move(lock));
}

PreparedRun prepare_step(const learner::RunFolder& folder, Config config) {
  make_folder(folder);
  FileDescriptor lock = lock_run(folder);
  make_run(folder, config);
  return made_ready(folder, std::move(config), std::move(lock));
}

}
