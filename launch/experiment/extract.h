#pragma once

#include <filesystem>

#include "launch/experiment/spec.h"

namespace regraft::launch {

/// The cells of the columns of `rows`, a line for each item of the file in a step's folder. Throws FileError
/// and ExperimentError: a file that is missing, damaged, or without what a column asks for.
std::vector<std::vector<std::string>> extract_rows(const ExperimentRows& rows,
                                                   const std::filesystem::path& folder);

/// Throws ExperimentError where of the values that `where` names one is of no item that counts in any of
/// these folders: what is misspelt would else be missing from the table without a word. Nothing to check
/// where the file is not JSON.
void require_wanted(const ExperimentRows& rows, const std::vector<std::filesystem::path>& folders);

}  // namespace regraft::launch
