#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

#include "core/wire/group.h"
#include "learner/job/learner_options.h"
#include "learner/job/run_folder.h"

namespace regraft::learner {

/// The learners of a run that share its updates, rank 0 among them: waits until all have joined. Null where
/// there is one alone. Throws WireError.
std::shared_ptr<wire::Group> lead_learners(const RunFolder& folder, const LearnerOptions& options);

/// Learner `rank` of that run joins. `key`: the file of its key pair. `check_run` throws
/// WireError(kClosed) where the run has ended. Throws WireError.
std::shared_ptr<wire::Group> join_learners(const RunFolder& folder, const LearnerOptions& options,
                                           std::uint32_t rank, const std::filesystem::path& key,
                                           const std::function<void()>& check_run);

}  // namespace regraft::learner
