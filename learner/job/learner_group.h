#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "core/wire/group.h"
#include "learner/job/learner_options.h"
#include "learner/job/run_folder.h"

namespace regraft::learner {

/// The name of the key of a rank's worker among the run's authorised ones, from rank 1.
std::string worker_key_name(std::int64_t rank);

/// The learners of a run that share its updates, rank 0 among them: waits until all have joined. `stopped`:
/// asked to stop, from then on there is little patience. Throws WireError.
std::shared_ptr<wire::Group> lead_learners(const RunFolder& folder, const LearnerOptions& options,
                                           const std::function<bool()>& stopped);

/// Learner `rank` of that run joins. `key`: the file of its key pair. `check_run` throws
/// WireError(kClosed) where the run has ended. Throws WireError.
std::shared_ptr<wire::Group> join_learners(const RunFolder& folder, const LearnerOptions& options,
                                           std::uint32_t rank, const std::filesystem::path& key,
                                           const std::function<void()>& check_run,
                                           const std::function<bool()>& stopped);

}
