#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "core/exec/latency/measurement.h"

namespace regraft::exec {

/// Measures one session somewhere fresh. Called from one thread.
class Launcher {
 public:
  virtual ~Launcher() = default;
  virtual Measurement measure(const MeasureRequest& request) = 0;
};

/// Each session in a fresh process: `program prefix... to_arguments(request)...`, which prints a Measurement
/// as JSON on its standard output. Our own program is /proc/self/exe with the prefix {"measure-one"}.
class ProcessLauncher : public Launcher {
 public:
  ProcessLauncher(std::filesystem::path program, std::vector<std::string> prefix,
                  std::chrono::seconds limit = std::chrono::minutes(10));
  /// Throws ExecError with what the child said on its standard error; ProcessError when it cannot be started.
  Measurement measure(const MeasureRequest& request) override;

 private:
  std::filesystem::path program_;
  std::vector<std::string> prefix_;
  std::chrono::seconds limit_;
};

}  // namespace regraft::exec
