#pragma once

#include <filesystem>

#include "core/base/file.h"
#include "core/base/mutex.h"
#include "core/base/signal_watch.h"

namespace regraft::launch {

/// A hidden folder for files that are not known to be good yet; they get the mode of new files. It is removed
/// with its object, and when SIGINT, SIGTERM or SIGHUP ends the process; else as TempDir says. Make it before
/// other threads start.
class AsideFolder {
 public:
  /// Throws FileError when `beside` cannot be written.
  explicit AsideFolder(const std::filesystem::path& beside);
  AsideFolder(const AsideFolder&) = delete;
  AsideFolder& operator=(const AsideFolder&) = delete;

  const std::filesystem::path& path() const { return folder_.path(); }
  /// While this lives a signal waits.
  MutexLock hold_signals() { return MutexLock(removing_); }

 private:
  void end_by(int signal);

  TempDir folder_;
  Mutex removing_;
  SignalWatch signals_;
};

}
