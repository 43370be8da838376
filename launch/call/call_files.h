#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace regraft::launch {

/// The files that one call of the program names, checked before its work starts. What it writes can be
/// written, and what it reads is there. No file is read and written, or written twice, whatever its names and
/// links. Name first all that is written, then what is read. One an action, since it may move standard
/// output.
class CallFiles {
 public:
  /// `option` is what errors name. Throws UsageError for a file that is taken, FileError for one that cannot
  /// be written. For standard output (`-`) the path is changed to one that belongs to the output alone.
  /// Whatever else is printed then goes to standard error.
  void writes(const std::string& option, std::filesystem::path& path);
  void writes(const std::string& option, std::optional<std::filesystem::path>& path);

  /// Throws FileError when nothing can be read there, UsageError for an output, but for that of
  /// `replaced_by`.
  void reads(const std::string& option, const std::filesystem::path& path,
             const std::string& replaced_by = "") const;
  void reads(const std::string& option, const std::optional<std::filesystem::path>& path) const;
  /// The rule files of a folder, or one.
  void reads_rules(const std::string& option, const std::filesystem::path& path) const;
  /// A model, or the name of a synthetic one.
  void reads_model(const std::string& option, const std::string& model) const;

  /// Throws UsageError when an output is one of these files, which a model that was read turns out to have.
  void spares(const std::filesystem::path& folder, const std::vector<std::string>& names) const;

 private:
  void keep_apart(const std::string& option, const std::filesystem::path& path,
                  const std::string& replaced_by) const;

  struct Named {
    std::string option;
    std::filesystem::path path;
  };
  std::vector<Named> outputs_;  // files only
  bool output_taken_ = false;
};

}
