#pragma once

#include <filesystem>

namespace regraft {

/// A file of the installation, such as configs/rules: beside the program, or the library that holds this
/// code: in the nearest folder above it that holds it. Relative paths that do not begin with configs/ are as
/// given where they exist from here; those that do are the installation's before they are anybody else's,
/// wherever it is called from. A namesake here that says something else is warned of, once. Returned as given
/// when it is nowhere.
std::filesystem::path find_config(const std::filesystem::path& path);

}
