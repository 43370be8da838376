#pragma once

#include "core/base/config.h"
#include "core/base/file.h"
#include "launch/job/actor_count.h"
#include "learner/job/run_folder.h"

namespace regraft::launch {

/// A run folder that is ready for workers, and locked as long as this lives. A second job in the same folder
/// would shut out the actors of the first.
struct PreparedRun {
  Config config;
  FileDescriptor lock;
};

/// Throws UsageError for a file, LaunchError where there is no run to resume, or one that is not to be.
void check_folder(const learner::RunFolder& folder, bool resume);

/// Throws UsageError, ConfigError or RuleError where a job's models, rules, options or actors cannot be used;
/// writes nothing.
void check_job(const learner::RunFolder& folder, const Config& config, ActorCount actors);

/// The folder itself: config, and run id and keys where there are none yet. Throws FileError.
void make_run(const learner::RunFolder& folder, const Config& config);

/// The folder of a new job, which gets config, run id and keys; or of one to go on with, taken only with
/// `resume`. A fixed option that differs from the one it was started with is refused with the difference.
PreparedRun prepare(const learner::RunFolder& folder, Config config, bool resume);

/// The folder of a step of a job, new or not: its config is the job's, which was compared there.
PreparedRun prepare_step(const learner::RunFolder& folder, Config config);

}
