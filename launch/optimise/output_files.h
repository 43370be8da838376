#pragma once

#include <filesystem>
#include <string>

#include "core/base/output_target.h"
#include "core/exec/runtime/exec_error.h"
#include "core/onnx/import.h"
#include "launch/optimise/aside_folder.h"

namespace regraft::launch {

/// Where a model is written until it is known to be good: aside, in the folder of the output, and renamed by
/// commit(). Without commit() nothing stays, not even when the disk is full. Each has a folder of its own,
/// also where several write the same output at once. An output that is a link stays one. A file keeps its
/// mode and owner. A pipe, a device or standard output gets the bytes. Make it before other threads start.
class OutputFiles {
 public:
  /// Throws FileError when the folder of `output` cannot be written.
  explicit OutputFiles(const std::filesystem::path& output);

  /// The file to write; has the output's own name (in a folder aside), which external data is named after.
  std::filesystem::path aside() const { return folder_.path() / output_.filename(); }
  /// Throws FileError when a model with external data cannot go there: to a pipe or standard output.
  void expect(const onnx::ImportedModel& model) const;
  /// Takes away what is written aside.
  void clear();
  /// A byte copy of a model's file and of the external data files that it names. Throws FileError.
  void copy_of(const onnx::ImportedModel& model);
  /// Moves everything written aside to its place. False where no file is new: the output is the input itself,
  /// or no file.
  bool commit();
  /// A text that may name files aside, with the output's own path in their place.
  std::string spoken(std::string text) const;

  /// Does work on files aside; its errors name the output's own path.
  template <typename Work>
  void name_errors(Work&& work) const {
    try {
      work();
    } catch (const FileError& error) {
      rename(error);
      throw;
    } catch (const onnx::OnnxError& error) {
      rename(error);
      throw;
    } catch (const exec::ExecError& error) {
      rename(error);
      throw;
    }
  }

 private:
  /// Throws an error with the output's name, where it has the name of a file aside.
  template <typename Thrown>
  void rename(const Thrown& error) const {
    if (spoken(error.what()) != error.what())
      throw Thrown(spoken(error.problem()), spoken(error.where()), error.remedy());
  }
  void copy(const std::filesystem::path& from, const std::filesystem::path& to) const;
  [[noreturn]] void refuse_data() const;
  bool send();
  void move(const std::filesystem::path& from, const std::filesystem::path& to) const;
  std::filesystem::path place_of(const std::filesystem::path& data) const;

  OutputTarget target_;
  std::filesystem::path output_;  // of what is no file: one that only aside() has
  AsideFolder folder_;
  bool in_place_ = false;
};

}
