#include "actors/config_files.h"

#include <system_error>

namespace regraft::actors {

namespace fs = std::filesystem;

fs::path find_config(const fs::path& path) {
  if (path.is_absolute() || fs::exists(path)) return path;
  std::error_code problem;
  const fs::path program = fs::read_symlink("/proc/self/exe", problem);
  for (fs::path folder = program.parent_path(); !problem && folder.has_relative_path();
       folder = folder.parent_path())
    if (fs::exists(folder / path)) return folder / path;
  return path;
}

}  // namespace regraft::actors
