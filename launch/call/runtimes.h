#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/cost/device_profile.h"
#include "core/exec/latency/kernel_profile.h"
#include "core/exec/latency/launcher.h"

namespace regraft::launch {

/// What models are measured in: ONNX Runtime or LibTorch, which are built in, or another one through its
/// adapter, a Python file that loads and runs a model there (launch/docs/adding-a-runtime.md).
class Runtime {
 public:
  static constexpr const char* kDefault = "onnxruntime";

  /// ONNX Runtime.
  Runtime() = default;
  /// A name of runtime_names(), or the path of an adapter. Throws UsageError for what is neither, with the
  /// nearest name.
  explicit Runtime(const std::string& name_or_path);

  const std::string& name() const { return name_; }
  /// What another Runtime of it is made of: its name, or its adapter's path.
  std::string origin() const { return adapter_.empty() ? name_ : adapter_.string(); }
  bool is_default() const { return program_.empty(); }
  /// Throws ExecError where it is not installed, or lacks its device, saying what to do; ProcessError without
  /// Python.
  std::string version() const;
  /// Its name and version, and what it runs on, for errors and for the database of kernels.
  std::string description() const;
  /// The device by whose rates its kernels are predicted, before they are corrected. In LibTorch each
  /// operation is a kernel of its own. In a runtime with an adapter, what makes a value does the elementwise
  /// operations on it too. The adapter's path with .fusions in place of .py may be a file of operations in
  /// parts that are one kernel.
  cost::DeviceProfile device(const std::filesystem::path& device_profile) const;
  /// What its kernels take, with the values that they make. Throws ExecError, and UsageError where
  /// is_profiled does not hold.
  exec::KernelProfile profile(const std::filesystem::path& model, const exec::Feed& feed,
                              const exec::ProfileOptions& options) const;
  /// Sessions in it, each in a fresh process, on the inputs that ONNX Runtime is measured on.
  std::unique_ptr<exec::Launcher> sessions() const;

 private:
  std::string name_ = kDefault;
  std::vector<std::string> program_;  // that measures, its first arguments behind it; empty: ONNX Runtime
  std::filesystem::path adapter_;     // empty: it is built in
};

/// Whether a runtime of that name, or an adapter of that path, runs on a GPU: its name ends with "-cuda".
/// Times there are by the clock.
bool on_gpu(const std::string& runtime);
/// The device profile that is given, or else one of what a runtime of that name runs on. Throws as
/// find_config.
std::filesystem::path rates_for(const std::string& runtime, const std::filesystem::path& given);

/// All that `auto` tries: "onnxruntime", then the adapters, but those of a GPU where there is none.
std::vector<std::string> installed_runtimes();
/// Those of "NAME,NAME"; for "auto" the installed ones.
std::vector<std::string> runtimes_named(const std::string& names);
/// Those whose kernels can be measured: the built-in ones, and adapters that have a function `kernels`.
std::vector<std::string> profiled_runtimes();
/// Whether those of a runtime of that name, or with an adapter of that path, can be.
bool is_profiled(const std::string& name_or_path);
/// "onnxruntime"; the adapters, files of configs/runtimes whose names do not begin with _; and those of
/// LibTorch: "torch-cpu", "torch-cuda".
std::vector<std::string> runtime_names();

}
