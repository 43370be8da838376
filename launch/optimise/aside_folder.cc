#include "launch/optimise/aside_folder.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <system_error>

#include "core/base/output_target.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;

FileDescriptor opened(const fs::path& folder) {
  return FileDescriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

bool lock(const FileDescriptor& folder) {
  return ::flock(folder.get(), LOCK_EX | LOCK_NB) == 0;
}

/// Whether the folder that was opened still is the one of that name.
bool is_there(const FileDescriptor& file, const fs::path& folder) {
  struct stat held {
  }, named{};
  return ::fstat(file.get(), &held) == 0 && ::stat(folder.c_str(), &named) == 0 &&
         held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

/// .NAME.PID-N.aside
bool is_aside(const std::string& name) {
  constexpr std::string_view kEnd = ".aside", kDigits = "0123456789";
  if (!name.starts_with('.') || !name.ends_with(kEnd)) return false;
  const std::string rest = name.substr(0, name.size() - kEnd.size());
  const std::size_t dash = rest.find_last_not_of(kDigits);
  if (dash == std::string::npos || rest[dash] != '-' || dash + 1 == rest.size()) return false;
  const std::size_t dot = rest.find_last_not_of(kDigits, dash - 1);
  return dot != std::string::npos && dot > 1 && rest[dot] == '.' && dot + 1 < dash;
}

/// Removes the folders of processes that have ended.
void sweep(const fs::path& beside) {
  std::error_code ignored;  // what cannot be removed costs space, nothing else
  for (const fs::directory_entry& entry : fs::directory_iterator(beside, ignored)) {
    if (!is_aside(entry.path().filename().string())) continue;
    const FileDescriptor folder = opened(entry.path());
    if (folder && lock(folder)) fs::remove_all(entry.path(), ignored);
  }
}

}  // namespace

AsideFolder::AsideFolder(const fs::path& beside, const std::string& name)
    : signals_(
          {SIGINT, SIGTERM, SIGHUP}, [this](int signal) { end_by(signal); }, SignalWatch::After::as_before) {
  sweep(beside);
  const std::string stem = "." + name_beside(name) + "." + std::to_string(::getpid()) + "-";
  for (int number = 0; path_.empty(); ++number) {
    const fs::path folder = beside / (stem + std::to_string(number) + ".aside");
    std::error_code problem;
    const bool made = fs::create_directory(folder, problem);
    if (problem)
      throw FileError("the output cannot be written: " + problem.message(), beside.string(),
                      "check the folder and the disk");
    if (!made) continue;
    lock_ = opened(folder);
    // Another's sweep may come between. Without locks (some network file systems) nobody sweeps.
    if (!lock_ || (!lock(lock_) && errno == EWOULDBLOCK) || !is_there(lock_, folder)) continue;
    const MutexLock held(removing_);
    path_ = folder;
  }
}

AsideFolder::~AsideFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void AsideFolder::end_by(int signal) {
  const MutexLock held(removing_);
  std::error_code ignored;
  // The work goes on meanwhile and may put another file there.
  for (int tries = 0; tries < 10 && !path_.empty() && fs::exists(path_, ignored); ++tries)
    fs::remove_all(path_, ignored);
  end_process_by(signal);
}

}  // namespace regraft::launch
