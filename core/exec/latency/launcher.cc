#include "core/exec/latency/launcher.h"

#include "core/base/child_error.h"
#include "core/exec/runtime/exec_error.h"

namespace regraft::exec {

std::filesystem::path runtime_program() {
  return std::filesystem::read_symlink("/proc/self/exe").replace_filename("regraft_runtime");
}

ProcessLauncher::ProcessLauncher(std::filesystem::path program, std::vector<std::string> prefix,
                                 std::chrono::seconds limit, std::string name)
    : program_(std::move(program)), prefix_(std::move(prefix)), limit_(limit), name_(std::move(name)) {}

Measurement ProcessLauncher::measure(const MeasureRequest& request) {
  SpawnOptions spawn;
  spawn.argv = {program_.string()};
  for (const std::string& word : prefix_) spawn.argv.push_back(word);
  for (std::string& word : to_arguments(request)) spawn.argv.push_back(std::move(word));
  const Captured child = capture_output(spawn, limit_);
  if (child.timed_out) {
    throw ExecError(name_ + " took more than " + std::to_string(limit_.count()) + " s", request.model,
                    "use a smaller model or --accept cost");
  }
  if (!child.status.ok()) {
    throw ExecError(child_error(child, name_), "", "");
  }
  return measurement_from_json(child.output, name_);
}

ProcessLauncher own_sessions() {
  return {runtime_program(), {"measure-one"}};
}

DrawnInputsLauncher::DrawnInputsLauncher(ProcessLauncher sessions, Write write)
    : sessions_(std::move(sessions)), write_(std::move(write)) {}

Measurement DrawnInputsLauncher::measure(const MeasureRequest& request) {
  std::filesystem::path& inputs = written_[{request.point, request.seed}];
  if (inputs.empty()) {
    const auto folder = folder_.path() / (std::to_string(request.point) + "-" + std::to_string(request.seed));
    std::filesystem::create_directory(folder);
    inputs = write_(request, folder);
  }
  MeasureRequest with_inputs = request;
  with_inputs.inputs = inputs;
  return sessions_.measure(with_inputs);
}

}
