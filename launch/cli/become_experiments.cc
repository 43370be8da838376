#include "launch/cli/become_experiments.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "core/base/error.h"

namespace regraft::launch {
namespace {

namespace fs = std::filesystem;

fs::path package_above(const fs::path& program) {
  for (fs::path folder = program.parent_path(); folder.has_relative_path(); folder = folder.parent_path())
    for (const char* name : {"launch/experiments", "experiments"})
      if (fs::exists(folder / name / "__main__.py")) return folder / name;
  throw Error("the Python package launch/experiments is missing", program.string(),
              "run the program where it was built, or install the wheel");
}

std::string python() {
  constexpr const char* debians = "/usr/bin/python3";
  const char* named = std::getenv("REGRAFT_PYTHON");
  return named != nullptr ? named : fs::exists(debians) ? debians : "python3";
}

}  // namespace

void become_experiments(const nlohmann::json& call) {
  const fs::path program = fs::read_symlink("/proc/self/exe"), package = package_above(program);
  const fs::path root = package.parent_path().parent_path();
  const char* former = std::getenv("PYTHONPATH");
  ::setenv("PYTHONPATH", (root.string() + (former ? ":" + std::string(former) : "")).c_str(), 1);
  ::setenv("PYTHONSAFEPATH", "1", 1);  // no modules of the working folder
  nlohmann::json whole = call;
  whole["program"] = program.string();
  const std::string interpreter = python(), text = whole.dump();
  const std::string module = package.parent_path().filename().string() + "." + package.filename().string();
  ::execlp(interpreter.c_str(), interpreter.c_str(), "-B", "-m", module.c_str(), text.c_str(), nullptr);
  throw Error("Python cannot be started: " + std::generic_category().message(errno), interpreter,
              "apt-get install python3, or name another one by REGRAFT_PYTHON");
}

}
