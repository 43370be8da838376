#pragma once

#include <filesystem>
#include <string>

#include "core/base/file.h"
#include "core/base/mutex.h"
#include "core/base/signal_watch.h"

namespace regraft::launch {

/// A hidden folder, `.NAME.PID-N.aside`, for files that are not known to be good yet. It is removed with its
/// object, and when SIGINT, SIGTERM or SIGHUP ends the process. What a process that was killed otherwise left
/// behind is removed when the next folder is made beside it. The folder is locked while its process lives:
/// process numbers differ between containers and machines that share a file system. Make it before other
/// threads start.
class AsideFolder {
 public:
  /// Throws FileError when `beside` cannot be written.
  AsideFolder(const std::filesystem::path& beside, const std::string& name);
  ~AsideFolder();
  AsideFolder(const AsideFolder&) = delete;
  AsideFolder& operator=(const AsideFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// While this lives a signal waits.
  MutexLock hold_signals() { return MutexLock(removing_); }

 private:
  void end_by(int signal);

  std::filesystem::path path_;
  FileDescriptor lock_;
  Mutex removing_;
  SignalWatch signals_;
};

}  // namespace regraft::launch
