#include "core/exec/latency/launcher.h"

#include "core/base/child_error.h"
#include "core/exec/runtime/exec_error.h"

namespace regraft::exec {

ProcessLauncher::ProcessLauncher(std::filesystem::path program, std::vector<std::string> prefix,
                                 std::chrono::seconds limit)
    : program_(std::move(program)), prefix_(std::move(prefix)), limit_(limit) {}

Measurement ProcessLauncher::measure(const MeasureRequest& request) {
  SpawnOptions spawn;
  spawn.argv = {program_.string()};
  for (const std::string& word : prefix_) spawn.argv.push_back(word);
  for (std::string& word : to_arguments(request)) spawn.argv.push_back(std::move(word));
  const Captured child = capture_output(spawn, limit_);
  if (child.timed_out) {
    throw ExecError("measuring took more than " + std::to_string(limit_.count()) + " s", request.model,
                    "use a smaller model or --accept cost");
  }
  if (!child.status.ok()) {
    throw ExecError(child_error(child, "measuring"), "", "");
  }
  return measurement_from_json(child.output);
}

}  // namespace regraft::exec
