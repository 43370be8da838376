#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/cost/device_profile.h"

namespace SQLite {
class Database;
}

namespace regraft::cost {

/// load_device's, with what this processor decides: the channels of a block of the blocked layout, which are
/// 16 with AVX-512 and else 8.
DeviceProfile device_of_this_machine(const std::filesystem::path& device_profile,
                                     const std::string& runtime_version = "");

/// What kernel times are of: this processor, the runtime with its version and its device ("ONNX
/// Runtime 1.31.1 CPU"), the threads inside an op, and the rates that the times are compared with. Times of
/// another fingerprint say nothing here.
std::string device_fingerprint(const std::filesystem::path& device_profile, const std::string& runtime,
                               int threads);

/// Kernels that were measured on this machine: one file of the user's, shared by all processes (SQLite with a
/// write-ahead log). Measurements of one kernel are averaged. An interrupted write leaves nothing.
///
/// It only ever helps: where it cannot be used, problem() says why, and all goes on without it. A file
/// NAME.sqlite that is damaged, or of another version, is set aside as NAME.sqlite.old; another program's is
/// left alone.
class KernelDatabase {
 public:
  explicit KernelDatabase(const std::filesystem::path& file);
  ~KernelDatabase();

  /// All that was measured under the fingerprint. What was written as of `this_model` is of `other_model`
  /// now.
  std::vector<KernelSample> read(const std::string& fingerprint);
  /// Leaves out what is `unsized`.
  void write(const std::string& fingerprint, std::span<const KernelSample> samples);
  bool usable() const { return database_ != nullptr; }
  /// What went wrong, what was done, and what to do; empty: nothing.
  const std::string& problem() const { return problem_; }

 private:
  void open();
  void set_aside();
  template <typename Work>
  void guarded(const char* doing, Work work);

  std::filesystem::path file_;
  std::unique_ptr<SQLite::Database> database_;  // none: it cannot be used
  std::string problem_;
};

/// kernels.sqlite in the user's cache folder (XDG_CACHE_HOME, else ~/.cache).
std::filesystem::path default_kernel_database();

}
