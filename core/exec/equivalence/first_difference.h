#pragma once

// Internal to core/exec/equivalence.

#include <filesystem>
#include <string>

#include "core/exec/equivalence/reference_runs.h"

namespace regraft::exec {

/// One sentence on the first inner value that differs by more than the tolerance on the run's inputs. Looks
/// at values that both models name, in the order of the original's nodes. Empty when there is none, or when
/// inner values cannot be read (values that are no tensors).
std::string first_difference(const std::filesystem::path& original, const std::filesystem::path& optimised,
                             const ReferenceRun& run, double tolerance);

}
