#pragma once

#include <cstdint>
#include <filesystem>

#include "learner/job/run_folder.h"

namespace regraft::launch {

/// The learner's worker process of a prepared run, whatever its phase, to its end: an exit code. SIGTERM and
/// SIGINT ask it to save and stop, SIGUSR1 to save.
int run_learner_process(const learner::RunFolder& folder);

/// Learner `rank` (from 1) of a job whose updates are shared; `key`: the file of its key pair. It ends when
/// the first learner says that the job has, and fails with it, to be started anew.
int run_peer_process(const learner::RunFolder& folder, std::uint32_t rank, const std::filesystem::path& key);

}
