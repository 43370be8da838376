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

/// A file that appears whole or not at all: chunks go to a file aside in the same folder; commit() makes it
/// durable and renames it over `path`. Without a commit (an exception, say) the file aside is removed and
/// `path` stays as it was. Used by one thread.
class AtomicFile {
 public:
  /// Throws FileError when the folder cannot be written.
  explicit AtomicFile(const std::filesystem::path& path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  /// Throws FileError (a full disk, say); the file aside is then gone and commit() must not be called.
  void write(std::span<const std::byte> chunk);
  void write(std::string_view chunk) { write(std::as_bytes(std::span(chunk.data(), chunk.size()))); }
  /// fsync, rename, fsync of the folder. At most once. Throws FileError, leaving `path` as it was.
  void commit();

 private:
  void remove_aside();
  [[noreturn]] void fail(const std::string& what);

  std::filesystem::path path_, aside_;
  FileDescriptor file_;
};

/// An AtomicFile of one chunk.
void write_file_atomic(const std::filesystem::path& path, std::span<const std::byte> bytes);
void write_file_atomic(const std::filesystem::path& path, std::string_view text);

/// Writes all bytes to a descriptor, resuming after interrupts and short writes. `path` names it in the
/// FileError.
void write_fully(int fd, std::span<const std::byte> bytes, const std::filesystem::path& path);

/// Makes the folder's entries (created, renamed) durable. Throws FileError.
void sync_folder(const std::filesystem::path& folder);

/// A fresh folder under the system's temporary folder, removed with all it holds in the destructor.
class TempDir {
 public:
  explicit TempDir(std::string_view prefix = "regraft");
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir();

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace regraft
