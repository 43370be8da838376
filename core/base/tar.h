#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace regraft {

/// Contents of files by name.
using FileTexts = std::map<std::string, std::string, std::less<>>;

/// A tar archive (POSIX ustar; GNU's form of names over 100 bytes) of these files, sorted by name. Modes,
/// owners and times are fixed: the same files give the same bytes.
std::string tar(const FileTexts& files);

/// The regular files of an archive of any tar program, without "./" before their names; nothing where it is
/// truncated or damaged.
std::optional<FileTexts> untar(std::string_view archive);

}
