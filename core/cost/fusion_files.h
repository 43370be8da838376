#pragma once

#include <filesystem>
#include <string>

namespace regraft::cost {

/// A file of configs/runtimes that says what a runtime fuses: RUNTIME-VERSION.fusions for the versions that
/// begin with these two numbers ("1.31"), RUNTIME.fusions for all versions.
struct FusionFile {
  std::filesystem::path path;
  std::string version;  // empty: of all
};

/// That of this version of the runtime; else of all versions; else of the nearest one, the older of two. An
/// empty version is newer than all. Where the folder has none, RUNTIME.fusions as find_config finds it.
FusionFile find_fusions(const std::filesystem::path& folder, const std::string& runtime,
                        const std::string& version);

/// What to tell whoever goes by the fusions of another version than the runtime's, of whose time so much is
/// in kernels as predicted (0 to 1); empty where they are its own.
std::string fusions_warning(const std::string& fusions_version, const std::string& runtime_version,
                            double agreed_share);

}
