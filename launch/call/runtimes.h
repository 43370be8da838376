#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/exec/latency/launcher.h"

namespace regraft::launch {

/// What models are measured in: ONNX Runtime, which is built in, or another one through its adapter, a Python
/// file that loads and runs a model there (launch/docs/adding-a-runtime.md).
class Runtime {
 public:
  static constexpr const char* kBuiltIn = "onnxruntime";

  /// ONNX Runtime.
  Runtime() = default;
  /// A name of runtime_names(), or the path of an adapter. Throws UsageError for what is neither, with the
  /// nearest name.
  explicit Runtime(const std::string& name_or_path);

  const std::string& name() const { return name_; }
  bool is_built_in() const { return adapter_.empty(); }
  /// Throws ExecError where it is not installed, saying what to install; ProcessError without Python.
  std::string version() const;
  /// Sessions in it, each in a fresh process, on the inputs that ONNX Runtime is measured on.
  std::unique_ptr<exec::Launcher> sessions() const;

 private:
  std::string name_ = kBuiltIn;
  std::filesystem::path adapter_;  // empty: built in
};

/// "onnxruntime", then the names of the files in configs/runtimes; those that begin with _ are none.
std::vector<std::string> runtime_names();

}  // namespace regraft::launch
