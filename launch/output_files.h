#pragma once

#include <filesystem>

namespace regraft::launch {

/// Where a model is written until it is known to be good: aside, in the folder of the output, and renamed by
/// commit(). Without one nothing stays, not even when the disk fills up. Each has a folder of its own, also
/// where several write the same output at once.
class OutputFiles {
 public:
  /// Throws FileError when the folder of `output` cannot be written.
  explicit OutputFiles(std::filesystem::path output);
  ~OutputFiles();
  OutputFiles(const OutputFiles&) = delete;
  OutputFiles& operator=(const OutputFiles&) = delete;

  /// The file to write; has the output's own name (in a folder aside), which external data is named after.
  std::filesystem::path aside() const { return folder_ / output_.filename(); }
  /// A byte copy of a model and of the external data files that it names.
  void copy_of(const std::filesystem::path& model);
  /// Moves everything written aside to its place.
  void commit();

 private:
  std::filesystem::path output_, folder_;
};

}  // namespace regraft::launch
