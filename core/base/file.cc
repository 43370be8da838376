#include "core/base/file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "core/base/temporary_folder.h"

namespace regraft {
namespace {

namespace fs = std::filesystem;

FileDescriptor open_for_reading(const fs::path& path, int flags = 0) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags));
  if (!file) throw_errno("cannot be opened", path, errno);
  return file;
}

struct stat status_of(const FileDescriptor& file, const fs::path& path) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) throw_errno("cannot be examined", path, errno);
  if (S_ISDIR(status.st_mode)) throw_errno("cannot be read", path, EISDIR);
  return status;
}

/// In names of temporary folders: "regraft-keys.flock.Xa3bZ9", ".regraft.flock.m0QwEr".
constexpr std::string_view kOurs = "regraft", kHidden = ".regraft", kLocked = ".flock.", kRandom = "XXXXXX";

bool is_temporary(const std::string& name) {
  const std::size_t at = name.rfind(kLocked);
  return (name.starts_with(kOurs) || name.starts_with(kHidden)) && at != std::string::npos &&
         at + kLocked.size() + kRandom.size() == name.size();
}

FileDescriptor open_folder(const fs::path& folder) {
  return FileDescriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

/// Whether the path still names what was opened.
bool is_there(const fs::path& folder, const FileDescriptor& opened) {
  struct stat by_path {
  }, by_handle{};
  return ::lstat(folder.c_str(), &by_path) == 0 && ::fstat(opened.get(), &by_handle) == 0 &&
         by_path.st_dev == by_handle.st_dev && by_path.st_ino == by_handle.st_ino;
}

bool lock_folder(const FileDescriptor& opened, int how) {
  int failed = 0;
  while ((failed = ::flock(opened.get(), how)) != 0 && errno == EINTR) {
  }
  return failed == 0;
}

void remove_abandoned(const fs::path& within) {
  std::error_code ignored;  // another process may remove the same
  for (fs::directory_iterator at(within, ignored), end; !ignored && at != end; at.increment(ignored)) {
    if (!is_temporary(at->path().filename().string())) continue;
    const FileDescriptor folder = open_folder(at->path());
    struct stat facts {};
    const bool own = folder && ::fstat(folder.get(), &facts) == 0 && facts.st_uid == ::geteuid();
    std::error_code kept;
    if (own && lock_folder(folder, LOCK_EX | LOCK_NB)) fs::remove_all(at->path(), kept);
  }
}

}  // namespace

void throw_errno(const std::string& what, const fs::path& path, int code) {
  std::string remedy;
  if (code == ENOSPC || code == EDQUOT || code == EFBIG) remedy = "free some disk space or write elsewhere";
  if (code == EACCES || code == EPERM || code == EROFS) remedy = "check its permissions";
  if (code == EISDIR) remedy = "name a file, not a folder";
  if (code == ENOENT || code == ENOTDIR) remedy = "check the path";
  throw FileError(what + ": " + std::generic_category().message(code), path.string(), remedy);
}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    close();
    fd_ = other.release();
  }
  return *this;
}

int FileDescriptor::release() {
  return std::exchange(fd_, -1);
}

void FileDescriptor::close() {
  if (fd_ >= 0) ::close(release());
}

std::string read_file(const fs::path& path) {
  const FileDescriptor file = open_for_reading(path);
  const auto expected = static_cast<std::size_t>(status_of(file, path).st_size);
  std::string text;
  std::size_t used = 0;
  while (true) {  // /proc files say size 0, and a file may grow while it is read
    text.resize(std::max(expected + 1, used + 65536));
    const ssize_t got = ::read(file.get(), text.data() + used, text.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_errno("cannot be read", path, errno);
    used += static_cast<std::size_t>(got);
    if (got == 0) break;
  }
  text.resize(used);
  return text;
}

MappedFile::MappedFile(const fs::path& path) {
  const FileDescriptor file = open_for_reading(path, O_NONBLOCK);  // a pipe without a writer is refused
  const struct stat status = status_of(file, path);
  if (!S_ISREG(status.st_mode)) throw FileError("is not a regular file", path.string(), "check the path");
  if (status.st_size == 0) throw FileError("is empty", path.string(), "check how it was made");
  const auto size = static_cast<std::size_t>(status.st_size);
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (data == MAP_FAILED) throw_errno("cannot be mapped into memory", path, errno);
  bytes_ = {static_cast<const std::byte*>(data), size};
}

MappedFile::MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  if (this != &other) {
    unmap();
    bytes_ = std::exchange(other.bytes_, {});
  }
  return *this;
}

MappedFile::~MappedFile() {
  unmap();
}

void MappedFile::unmap() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

void write_fully(int fd, std::span<const std::byte> bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw_errno("cannot be written", path, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void sync_folder(const fs::path& folder) {
  const FileDescriptor file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!file) throw_errno("cannot be opened", folder, errno);
  // Some file systems have no fsync for folders and say EINVAL; their renames are as durable as they get.
  if (::fsync(file.get()) != 0 && errno != EINVAL) throw_errno("cannot be made durable", folder, errno);
}

TempDir::TempDir(std::string_view prefix, const fs::path& within) {
  const fs::path above = within.empty() ? temporary_folder() : within;
  remove_abandoned(above);
  while (!lock_) {
    std::string name = (above / prefix).string() + std::string(kLocked) + std::string(kRandom);
    if (!::mkdtemp(name.data()))
      throw FileError("no folder can be made there: " + std::generic_category().message(errno),
                      above.string(),
                      within.empty() ? "give TMPDIR a folder that can be written" : "check it and the disk");
    path_ = name;
    FileDescriptor opened = open_folder(path_);
    if (!opened && errno != ENOENT) throw_errno("cannot be opened", path_, errno);
    if (opened) lock_folder(opened, LOCK_EX);  // where there are no locks nobody can take it for abandoned
    // Before it was locked another process may have done so.
    if (opened && is_there(path_, opened)) lock_ = std::move(opened);
  }
}

TempDir::~TempDir() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}
