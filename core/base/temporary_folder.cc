#include "core/base/temporary_folder.h"

#include <system_error>

#include "core/base/error.h"

namespace regraft {

std::filesystem::path temporary_folder() {
  std::error_code problem;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(problem);
  if (!problem) return folder;
  throw UsageError("there is no folder for temporary files: " + problem.message(), "TMPDIR",
                   "name one that there is");
}

}
