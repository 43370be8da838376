#include "core/base/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "core/base/output_target.h"

namespace regraft {
namespace {

namespace fs = std::filesystem;

/// A device, a pipe or an own descriptor, to be written to.
FileDescriptor open_special(const OutputTarget& target) {
  const bool own = target.descriptor >= 0;
  if (own) std::fflush(stdout);  // what was printed before comes before
  FileDescriptor file(own ? ::fcntl(target.descriptor, F_DUPFD_CLOEXEC, 0)
                          : ::open(target.path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!file) throw_errno("cannot be written", target.path, errno);
  return file;
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

}  // namespace

AtomicFile::AtomicFile(const fs::path& path) {
  const OutputTarget target = target_of(path);
  path_ = target.path;
  if (target.kind != OutputTarget::Kind::file) {
    file_ = open_special(target);
    return;
  }
  // A process that was killed may have left its file aside; the next free number is then taken.
  for (int number = 0; !file_; ++number) {
    aside_ = path_;
    aside_.replace_filename(name_beside(path_) + ".partial-" + std::to_string(::getpid()) + "-" +
                            std::to_string(number));
    file_ = FileDescriptor(::open(aside_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (!file_ && errno != EEXIST) {
      const int code = errno;
      aside_.clear();
      throw_errno("cannot be written", path_, code);
    }
  }
  keep_mode_and_owner(path_, file_.get());
}

AtomicFile::~AtomicFile() {
  remove_aside();
}

void AtomicFile::remove_aside() {
  file_.close();
  if (!aside_.empty()) ::unlink(aside_.c_str());
  aside_.clear();
}

void AtomicFile::fail(const std::string& what) {
  const int code = errno;
  remove_aside();
  throw_errno(what, path_, code);
}

void AtomicFile::write(std::span<const std::byte> chunk) {
  try {
    write_fully(file_.get(), chunk, path_);
  } catch (const FileError&) {
    remove_aside();
    throw;
  }
}

void AtomicFile::commit() {
  if (aside_.empty()) return file_.close();
  if (::fsync(file_.get()) != 0) fail("cannot be made durable");
  if (::close(file_.release()) != 0) fail("cannot be written");
  if (::rename(aside_.c_str(), path_.c_str()) != 0) fail("cannot be replaced");
  aside_.clear();
  sync_folder(folder_of(path_));
}

void write_file_atomic(const fs::path& path, std::span<const std::byte> bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

void write_file_atomic(const fs::path& path, std::string_view text) {
  write_file_atomic(path, std::as_bytes(std::span(text.data(), text.size())));
}

}
