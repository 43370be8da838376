#pragma once

#include <filesystem>

#include "core/base/file.h"

namespace regraft::launch {

/// A folder for the key pairs of this process's actors, readable by its user alone, removed with all it holds
/// in the destructor. What a process that was killed left behind the next one removes: a folder is locked
/// (flock) as long as its process lives, so that one whose lock is free belongs to nobody; neither a process
/// number that is used again nor one of another container deceives it. Used by one thread.
class KeyFolder {
 public:
  /// Throws FileError where none can be made. What cannot be removed of others stays.
  explicit KeyFolder(const std::filesystem::path& within = std::filesystem::temp_directory_path());
  KeyFolder(const KeyFolder&) = delete;
  KeyFolder& operator=(const KeyFolder&) = delete;
  ~KeyFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  FileDescriptor lock_;
};

}  // namespace regraft::launch
