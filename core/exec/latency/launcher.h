#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/file.h"
#include "core/exec/latency/measurement.h"

namespace regraft::exec {

/// The program beside this one whose processes run models: it starts faster, since it is without LibTorch.
std::filesystem::path runtime_program();

/// Measures one session somewhere fresh. Called from one thread.
class Launcher {
 public:
  virtual ~Launcher() = default;
  virtual Measurement measure(const MeasureRequest& request) = 0;
};

/// Each session in a fresh process: `program prefix... to_arguments(request)...`, which prints a Measurement
/// as JSON on its standard output. Our own program is runtime_program() with the prefix {"measure-one"}.
class ProcessLauncher : public Launcher {
 public:
  ProcessLauncher(std::filesystem::path program, std::vector<std::string> prefix,
                  std::chrono::seconds limit = std::chrono::minutes(10), std::string name = "measuring");
  /// Throws ExecError with what the child said on its standard error; ProcessError when it cannot be started.
  Measurement measure(const MeasureRequest& request) override;

 private:
  std::filesystem::path program_;
  std::vector<std::string> prefix_;
  std::chrono::seconds limit_;
  std::string name_;  // of what it does, in errors
};

/// The program's own sessions in ONNX Runtime.
ProcessLauncher own_sessions();

/// Sessions of programs that do not draw inputs themselves, as those of other runtimes: the first model that
/// is measured has them written, once for each point and seed. All models have the same inputs by name.
class DrawnInputsLauncher : public Launcher {
 public:
  /// `write(request, folder)` is write_inputs, in a process of its own where memory matters.
  using Write = std::function<std::filesystem::path(const MeasureRequest&, const std::filesystem::path&)>;
  DrawnInputsLauncher(ProcessLauncher sessions, Write write);
  /// Throws what both throw.
  Measurement measure(const MeasureRequest& request) override;

 private:
  ProcessLauncher sessions_;
  Write write_;
  TempDir folder_;
  std::map<std::pair<std::size_t, std::uint64_t>, std::filesystem::path> written_;  // by point and seed
};

}
