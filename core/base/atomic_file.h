#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "core/base/file.h"

namespace regraft {

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

}
