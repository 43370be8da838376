#pragma once

#include <filesystem>

namespace regraft {

/// The system's folder for temporary files (TMPDIR). Throws UsageError where there is none.
std::filesystem::path temporary_folder();

}
