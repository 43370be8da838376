#pragma once

#include <filesystem>

#include "launch/experiment/spec.h"

namespace regraft::launch {

/// The cells of the columns of `rows`, a line for each item of the file in a step's folder. Throws FileError
/// and ExperimentError: a file that is missing, damaged, or without what a column asks for.
std::vector<std::vector<std::string>> extract_rows(const ExperimentRows& rows,
                                                   const std::filesystem::path& folder);

}  // namespace regraft::launch
