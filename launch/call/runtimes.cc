#include "launch/call/runtimes.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <system_error>

#include "core/base/child_error.h"
#include "core/base/text.h"
#include "core/exec/runtime/exec_error.h"
#include "core/exec/runtime/ort_session.h"
#include "core/task/config_files.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolder = "configs/runtimes";
constexpr std::chrono::minutes kLongestSession{10}, kLongestStart{2};

/// A Python program that measures by this adapter; what it is asked follows.
std::vector<std::string> command(const fs::path& adapter) {
  const char* python = std::getenv("REGRAFT_PYTHON");
  return {python != nullptr ? python : "python3", "-B", task::find_config(fs::path(kFolder) / "_measure.py"),
          adapter};
}

/// `regraft_runtime draw-inputs`: exec::write_inputs.
fs::path write_in_child(const exec::MeasureRequest& request, const fs::path& folder) {
  SpawnOptions spawn;
  spawn.argv = {exec::runtime_program(), "draw-inputs", folder};
  std::ranges::move(exec::to_arguments(request), std::back_inserter(spawn.argv));
  const Captured child = capture_output(spawn, kLongestSession);
  if (child.timed_out || !child.status.ok())
    throw exec::ExecError(child_error(child, "drawing inputs"), "", "");
  return folder / "inputs.json";
}

}  // namespace

Runtime::Runtime(const std::string& name_or_path) : name_(name_or_path) {
  if (name_ == kBuiltIn) return;
  const std::vector<std::string> names = runtime_names();
  if (std::ranges::find(names, name_) != names.end()) {
    adapter_ = task::find_config(fs::path(kFolder) / (name_ + ".py"));
  } else if (fs::path(name_).extension() == ".py" && fs::is_regular_file(name_)) {
    adapter_ = fs::absolute(name_);
    name_ = adapter_.stem();
  } else {
    throw UsageError("no runtime is called '" + name_ + "'", "", suggestion(name_, names));
  }
}

std::string Runtime::version() const {
  if (is_built_in()) return exec::runtime_version();
  SpawnOptions spawn;
  spawn.argv = command(adapter_);
  spawn.argv.emplace_back("--version");
  const Captured child = capture_output(spawn, kLongestStart);
  if (child.timed_out || !child.status.ok()) throw exec::ExecError(child_error(child, name_), "", "");
  return child.output;
}

std::unique_ptr<exec::Launcher> Runtime::sessions() const {
  if (is_built_in()) return std::make_unique<exec::ProcessLauncher>(exec::own_sessions());
  const std::vector<std::string> argv = command(adapter_);
  return std::make_unique<exec::DrawnInputsLauncher>(
      exec::ProcessLauncher(argv[0], {argv.begin() + 1, argv.end()}, kLongestSession,
                            "measuring in " + name_),
      write_in_child);
}

std::vector<std::string> runtime_names() {
  std::vector<std::string> names;
  std::error_code missing;
  for (const auto& entry : fs::directory_iterator(task::find_config(kFolder), missing)) {
    const std::string name = entry.path().stem();
    if (entry.path().extension() == ".py" && !name.starts_with('_')) names.push_back(name);
  }
  std::ranges::sort(names);
  names.insert(names.begin(), Runtime::kBuiltIn);
  return names;
}

}  // namespace regraft::launch
