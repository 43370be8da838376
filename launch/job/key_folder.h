#pragma once

#include <filesystem>

#include "core/base/file.h"
#include "core/base/temporary_folder.h"

namespace regraft::launch {

/// A folder for the key pairs of this process's actors. Only its user can read it, and the destructor removes
/// it with all it holds. It is locked (flock) as long as its process lives. So the next process can tell, and
/// removes, what a killed process left behind; process numbers, which are reused and differ between
/// containers, would not tell. Used by one thread.
class KeyFolder {
 public:
  /// Throws FileError where none can be made. What cannot be removed of others stays.
  explicit KeyFolder(const std::filesystem::path& within = temporary_folder());
  KeyFolder(const KeyFolder&) = delete;
  KeyFolder& operator=(const KeyFolder&) = delete;
  ~KeyFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  FileDescriptor lock_;
};

}  // namespace regraft::launch
