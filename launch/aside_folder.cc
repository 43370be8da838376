#include "launch/aside_folder.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <regex>
#include <system_error>

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

/// Removes the folders of processes that have ended.
void sweep(const fs::path& beside) {
  static const std::regex pattern("\\..+\\.[0-9]+-[0-9]+\\.aside");
  std::error_code ignored;  // what cannot be removed costs space, nothing else
  for (const fs::directory_entry& entry : fs::directory_iterator(beside, ignored)) {
    if (!std::regex_match(entry.path().filename().string(), pattern)) continue;
    const FileDescriptor folder = opened(entry.path());
    if (folder && lock(folder)) fs::remove_all(entry.path(), ignored);
  }
}

}  // namespace

AsideFolder::AsideFolder(const fs::path& beside, const std::string& name)
    : signals_(
          {SIGINT, SIGTERM, SIGHUP}, [this](int signal) { end_by(signal); }, SignalWatch::After::as_before) {
  sweep(beside);
  const std::string stem = "." + name + "." + std::to_string(::getpid()) + "-";
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
    const std::lock_guard held(removing_);
    path_ = folder;
  }
}

AsideFolder::~AsideFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void AsideFolder::end_by(int signal) {
  const std::lock_guard held(removing_);
  std::error_code ignored;
  // The work goes on meanwhile and may put another file there.
  for (int tries = 0; tries < 10 && !path_.empty() && fs::exists(path_, ignored); ++tries)
    fs::remove_all(path_, ignored);
  end_process_by(signal);
}

}  // namespace regraft::launch
