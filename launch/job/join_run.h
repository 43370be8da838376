#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "core/wire/run_info.h"
#include "learner/job/run_folder.h"

namespace regraft::launch {

/// Throws UsageError where no run was prepared in that folder.
void require_run(const learner::RunFolder& folder);

/// The run folder that `run` names, or where the run file lies; a relay's file lies one folder deeper. A
/// worker on another machine needs it on a shared file system. Throws UsageError where `join` is a folder, or
/// a URL alone, or there is no run.
learner::RunFolder folder_of(const std::string& join, const std::optional<std::filesystem::path>& run);

/// For wire::LinkOptions: the run, as its file or URL says. WireError(kClosed) once it has ended, or this
/// worker was asked to stop.
std::function<wire::RunInfo()> locate_run(const std::string& join, const learner::RunFolder& folder,
                                          const std::stop_token& stopped);

/// Does the work of a worker that has joined a run: an exit code. Throws what starting it again may mend.
int work_in_run(const learner::RunFolder& folder, const std::function<void()>& work);

}
