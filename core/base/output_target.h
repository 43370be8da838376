#pragma once

#include <filesystem>
#include <string>

namespace regraft {

/// What stands where an output shall go. AtomicFile replaces a file, whose mode and owner it keeps; a link
/// stays one. To all else it writes, chunk by chunk; it waits for the reader of a named pipe.
struct OutputTarget {
  enum class Kind {
    file,        // there or not yet: replaced as a whole
    special,     // a device or a named pipe: written to
    descriptor,  // one of this process's own: standard output, say
  };
  Kind kind = Kind::file;
  std::filesystem::path path;  // with the links of its last part followed; as given for a descriptor
  int descriptor = -1;
};

/// `-`, /dev/stdout, /dev/fd/N and /proc/self/fd/N are descriptors; a link means what it points at, be it
/// there or not. Throws FileError for a folder and for links that go round in a circle.
OutputTarget target_of(const std::filesystem::path& path);

/// The file's name, cut where it is long, so that what stands beside it under this name and some more does
/// not pass the 255 bytes that systems allow.
std::string name_beside(const std::filesystem::path& file);

/// Gives a file the mode and, as far as this process may, the owner and group of another.
void keep_mode_and_owner(const std::filesystem::path& held, int file);

}
