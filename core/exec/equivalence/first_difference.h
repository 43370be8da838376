#pragma once

// Internal to core/exec/equivalence.

#include <filesystem>
#include <string>

#include "core/exec/equivalence/reference_runs.h"

namespace regraft::exec {

/// One sentence on the first value, in the order of the original's nodes, that both models name and that
/// differs by more than the tolerance on the run's inputs; empty when there is none, or when the models'
/// inner values cannot be read (values that are no tensors).
std::string first_difference(const std::filesystem::path& original, const std::filesystem::path& optimised,
                             const ReferenceRun& run, double tolerance);

}  // namespace regraft::exec
