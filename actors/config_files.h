#pragma once

#include <filesystem>

namespace regraft::actors {

/// A file of the installation, such as configs/rules: as given if it exists from here, else beside the
/// program: in the nearest folder above it that holds it. Returned as given when it is nowhere.
std::filesystem::path find_config(const std::filesystem::path& path);

}  // namespace regraft::actors
