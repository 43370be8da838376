#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace regraft::launch {

/// One HTML page of the folders of experiments (experiment.json) and of training runs (config.toml and
/// events): their tables, plots, commands and times. Throws FileError and ExperimentError, for a folder that
/// is neither.
std::string report_html(const std::vector<std::filesystem::path>& folders);

}  // namespace regraft::launch
