#include "launch/job/key_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;

constexpr char kPrefix[] = "regraft-actor-keys.";

/// A folder of this user; none where it is a link, another's, or gone.
FileDescriptor open_own(const fs::path& folder) {
  FileDescriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat facts {};
  if (!opened || ::fstat(opened.get(), &facts) != 0 || facts.st_uid != ::geteuid()) return {};
  return opened;
}

/// Whether the path still names what was opened.
bool names(const fs::path& folder, const FileDescriptor& opened) {
  struct stat by_path {
  }, by_handle{};
  return ::lstat(folder.c_str(), &by_path) == 0 && ::fstat(opened.get(), &by_handle) == 0 &&
         by_path.st_dev == by_handle.st_dev && by_path.st_ino == by_handle.st_ino;
}

bool lock(const FileDescriptor& opened, int how) {
  int failed = 0;
  while ((failed = ::flock(opened.get(), how)) != 0 && errno == EINTR) {
  }
  return failed == 0;
}

void remove_abandoned(const fs::path& within) {
  std::error_code ignored;  // another process may remove the same
  for (fs::directory_iterator at(within, ignored), end; !ignored && at != end; at.increment(ignored)) {
    if (!at->path().filename().string().starts_with(kPrefix)) continue;
    const FileDescriptor folder = open_own(at->path());
    std::error_code kept;
    if (folder && lock(folder, LOCK_EX | LOCK_NB)) fs::remove_all(at->path(), kept);
  }
}

[[noreturn]] void fail(const fs::path& folder, int code) {
  throw FileError("cannot make a folder for keys: " + std::generic_category().message(code), folder.string(),
                  "give TMPDIR a folder that can be written");
}

}  // namespace

KeyFolder::KeyFolder(const fs::path& within) {
  remove_abandoned(within);
  while (!lock_) {
    std::string name = (within / kPrefix).string() + "XXXXXX";
    if (!::mkdtemp(name.data())) fail(name, errno);
    path_ = name;
    FileDescriptor opened = open_own(path_);
    if (!opened && errno != ENOENT) fail(path_, errno);
    if (opened) lock(opened, LOCK_EX);  // where there are no locks nobody can take it for abandoned
    // Before it was locked another process may have done so.
    if (opened && names(path_, opened)) lock_ = std::move(opened);
  }
}

KeyFolder::~KeyFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace regraft::launch
