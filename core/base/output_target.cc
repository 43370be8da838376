#include "core/base/output_target.h"

#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <optional>

#include "core/base/file.h"

namespace regraft {
namespace {

namespace fs = std::filesystem;

/// N of /proc/self/fd/N, under whatever name of that folder.
std::optional<int> own_descriptor(const fs::path& path) {
  std::error_code problem;
  if (!fs::equivalent(path.parent_path(), "/proc/self/fd", problem) || problem) return std::nullopt;
  const std::string name = path.filename().string();
  int number = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc{} || end != name.data() + name.size() || number < 0) return std::nullopt;
  return number;
}

}  // namespace

OutputTarget target_of(const fs::path& path) {
  using Kind = OutputTarget::Kind;
  if (path == "-") return {Kind::descriptor, path, STDOUT_FILENO};
  constexpr int kMostLinks = 40;  // as many as the system follows
  fs::path at = path;
  std::error_code problem;
  for (int links = 0;; ++links) {
    if (const std::optional<int> number = own_descriptor(at)) return {Kind::descriptor, path, *number};
    if (!fs::is_symlink(at, problem)) break;
    if (links == kMostLinks) throw FileError("cannot be written: its links end nowhere", path.string(), "");
    at = at.parent_path() / fs::read_symlink(at, problem);
  }
  const fs::file_status status = fs::status(at, problem);
  if (status.type() == fs::file_type::directory)
    throw FileError("cannot be written: Is a directory", path.string(), "name a file, not a folder");
  const bool file = status.type() == fs::file_type::regular || !fs::exists(status);
  return {file ? Kind::file : Kind::special, at};
}

std::string name_beside(const fs::path& file) {
  constexpr std::size_t kLongest = 200;
  return file.filename().string().substr(0, kLongest);
}

void keep_mode_and_owner(const fs::path& held, int file) {
  struct stat before {};
  if (::stat(held.c_str(), &before) != 0) return;  // new
  // Only root gives files away; a group of one's own is always possible. The mode last: a new owner clears
  // bits of it.
  if (::fchown(file, before.st_uid, before.st_gid) != 0) [[maybe_unused]]
    const int group = ::fchown(file, static_cast<uid_t>(-1), before.st_gid);
  ::fchmod(file, before.st_mode & 07777);
}

}
