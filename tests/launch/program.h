#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/base/file.h"
#include "core/base/process.h"
#include "launch/output_check.h"

namespace regraft::launch::testing {

/// The program under test: the one of this build, or that of REGRAFT_PROGRAM, which a sanitizer watches, say.
inline std::string program() {
  const char* other = std::getenv("REGRAFT_PROGRAM");
  return other ? other : REGRAFT_BINARY_DIR "/regraft";
}

/// Where the program keeps what it measures while these tests run: not among the user's own.
inline std::pair<std::string, std::string> own_cache() {
  static const TempDir folder("regraft_test_cache");
  return {"XDG_CACHE_HOME", folder.path().string()};
}

/// Runs the program to its end, and has ONNX check the model that it wrote.
inline Captured run(std::vector<std::string> arguments,
                    std::vector<std::pair<std::string, std::string>> environment = {}) {
  SpawnOptions spawn;
  arguments.insert(arguments.begin(), program());
  spawn.argv = std::move(arguments);
  spawn.environment = std::move(environment);
  spawn.environment.push_back(own_cache());
  Captured ran = capture_output(spawn, std::chrono::minutes(8));
  check_output(spawn.argv, ran);
  return ran;
}

inline Captured run_with(std::vector<std::string> arguments, const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run(std::move(arguments));
}

/// A running program whose standard error is read line by line: how a test waits for what it announces.
class Running {
 public:
  explicit Running(const std::vector<std::string>& argv,
                   std::vector<std::pair<std::string, std::string>> environment = {})
      : child_(options(argv, std::move(environment))) {}

  /// Reads until a line holds `text`; false at the end of the output.
  bool wait_for_line(const std::string& text) {
    for (;;) {
      const std::size_t end = pending_.find('\n');
      if (end == std::string::npos) {
        char buffer[4096];
        const ssize_t got = read(child_.errors().get(), buffer, sizeof buffer);
        if (got <= 0) return false;
        pending_.append(buffer, static_cast<std::size_t>(got));
        continue;
      }
      const std::string line = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      seen_ += line + "\n";
      if (line.find(text) != std::string::npos) return true;
    }
  }
  /// Reads to the end and waits.
  ExitStatus finish() {
    wait_for_line("\x01 never \x01");
    return child_.wait();
  }
  void signal(int number) { child_.signal(number); }
  const std::string& seen() const { return seen_; }

  /// Worker processes that the program started, by a word of their command line.
  std::vector<pid_t> workers(const std::string& word) const {
    std::vector<pid_t> found;
    const std::string pid = std::to_string(child_.pid());
    std::ifstream children("/proc/" + pid + "/task/" + pid + "/children");
    for (pid_t worker = 0; children >> worker;) {
      std::ifstream file("/proc/" + std::to_string(worker) + "/cmdline");
      std::string line((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
      if (line.find(std::string(1, '\0') + word + std::string(1, '\0')) != std::string::npos)
        found.push_back(worker);
    }
    return found;
  }

 private:
  static SpawnOptions options(const std::vector<std::string>& argv,
                              std::vector<std::pair<std::string, std::string>> environment) {
    SpawnOptions spawn;
    spawn.argv = {"/bin/sh", "-c", "exec \"$@\" > /dev/null", "sh"};
    spawn.argv.insert(spawn.argv.end(), argv.begin(), argv.end());
    spawn.environment = std::move(environment);
    spawn.environment.push_back(own_cache());
    spawn.errors = Redirect::pipe;
    return spawn;
  }
  Child child_;
  std::string pending_, seen_;
};

/// `regraft train` on small synthetic graphs.
inline std::vector<std::string> train(const std::filesystem::path& run, std::vector<std::string> more) {
  std::vector<std::string> argv{program(), "train",
                                "--run",   run.string(),
                                "--set",   "workload.models=synthetic:4:1:1:0",
                                "--set",   "workload.horizon=12",
                                "--set",   "train.steps_per_update=64"};
  argv.insert(argv.end(), more.begin(), more.end());
  return argv;
}

inline nlohmann::json json_of(const std::filesystem::path& path) {
  return nlohmann::json::parse(read_file(path));
}

}
