#include "core/wire/relay_file.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

#include "core/base/file.h"

namespace regraft::wire {
namespace {

namespace fs = std::filesystem;

/// The folder, locked until it is closed; some file systems cannot, and the work is done without.
FileDescriptor locked_folder_of(const fs::path& file) {
  const fs::path folder = fs::absolute(file).parent_path();
  FileDescriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  while (opened && ::flock(opened.get(), LOCK_EX) != 0 && errno == EINTR) {
  }
  return opened;
}

}  // namespace

void RelayFile::save(const RunInfo& own) {
  const FileDescriptor locked = locked_folder_of(path_);
  own.save(path_);
  own_ = own;
}

void RelayFile::remove() {
  if (!own_) return;
  const FileDescriptor locked = locked_folder_of(path_);
  std::error_code ignored;  // its actors are sent away too
  try {
    if (RunInfo::load(path_) == *own_) fs::remove(path_, ignored);
  } catch (const Error&) {
    // Missing, or not written by a relay.
  }
}

}
