#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace regraft {

/// A file or folder that could not be read or written; says the path and the system's reason.
class FileError : public Error {
 public:
  using Error::Error;
};

/// "WHAT: the system's words for CODE" (an errno), with what to do.
[[noreturn]] void throw_errno(const std::string& what, const std::filesystem::path& path, int code);

/// An owned file descriptor, -1 for none; closed in the destructor.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(other.release()) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  ~FileDescriptor() { close(); }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release();
  void close();

 private:
  int fd_ = -1;
};

/// All bytes of a file. Throws FileError.
std::string read_file(const std::filesystem::path& path);

/// A file mapped into memory, read-only; the bytes stay valid while this object lives (moves included). The
/// file must not be shortened meanwhile: writers here replace files by renaming, which is safe.
class MappedFile {
 public:
  /// Throws FileError when the file is missing, unreadable, not a regular file, or empty.
  explicit MappedFile(const std::filesystem::path& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  void unmap();

  std::span<const std::byte> bytes_;
};

/// Writes all bytes to a descriptor, resuming after interrupts and short writes. `path` names it in the
/// FileError.
void write_fully(int fd, std::span<const std::byte> bytes, const std::filesystem::path& path);

/// Makes the folder's entries (created, renamed) durable. Throws FileError.
void sync_folder(const std::filesystem::path& folder);

/// A fresh folder in the system's temporary folder, or `within` another, which only its user can read. The
/// destructor removes it with all it holds. It is locked (flock) as long as its process lives. So the next
/// one can tell, and removes, what a killed process left behind where the prefix begins with regraft or
/// .regraft; process numbers, which are reused and differ between containers, would not tell. Others who want
/// to lock the folder itself wait for ever.
class TempDir {
 public:
  explicit TempDir(std::string_view prefix = "regraft", const std::filesystem::path& within = {});
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir();

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  FileDescriptor lock_;
};

}
