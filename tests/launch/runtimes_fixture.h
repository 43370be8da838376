#pragma once

// Models measured in runtimes of adapters that a test writes.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/atomic_file.h"
#include "core/base/file.h"
#include "core/exec/tiny_models.h"
#include "launch/program.h"

namespace regraft::launch::testing {

/// Debian's Python, for which launch/setup.sh installs NumPy.
inline constexpr const char* kPython = "/usr/bin/python3";

/// An adapter in whose runtime a run of the input takes the first time, and one of other models the second.
inline std::string adapter(const std::string& in_ms, const std::string& other_ms) {
  return R"(
import os
import time

def version():
    return "7.1"

def load(model, inputs, threads):
    end_ms = )" +
         in_ms + R"( if os.path.basename(model) == "in.onnx" else )" + other_ms + R"(
    assert inputs["x"].shape == (8, 256) and inputs["x"].dtype == "float32" and threads == 1
    print("what a runtime prints is not read")

    def run():
        end = time.process_time() + end_ms / 1000
        while time.process_time() < end:
            pass
        return [inputs["x"]]
    return run
)";
}

class RuntimesTest : public ::testing::Test {
 protected:
  std::filesystem::path path(const std::string& name) const { return dir_.path() / name; }
  std::string runtime(const std::string& source, const std::string& name = "seven") const {
    write_file_atomic(path(name + ".py"), source);
    return path(name + ".py");
  }
  /// x (y z), of which (x y) z is less work.
  std::string model() const {
    exec::testing::ModelBuilder model;
    model.input("x", {8, 256}).input("y", {256, 256}).input("z", {256, 256}).output("o", {8, 256});
    model.node("MatMul", {"y", "z"}, {"w"});
    model.node("MatMul", {"x", "w"}, {"o"});
    return model.write(path("in.onnx"));
  }
  Captured run(std::vector<std::string> arguments, const std::string& packages = "") const {
    return testing::run(std::move(arguments),
                        {{"REGRAFT_PYTHON", kPython}, {"REGRAFT_CACHE", ""}, {"PYTHONPATH", packages}});
  }
  Captured bench(const std::string& runtime, std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments{"bench", model(),  "--budget",          "1",         "--runtime",
                                       runtime, "--json", path("report.json"), "--threads", "1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }
  std::vector<std::string> optimise(const std::string& runtime) const {
    std::vector<std::string> words{"optimise", model(), "-o", path("out.onnx"), "--runtime", runtime};
    const std::string report = path("report.json");
    for (const char* word : {"--json", report.c_str(), "--search", "greedy", "--trial-budget", "0",
                             "--measure-budget", "1", "--threads", "1"})
      words.emplace_back(word);
    return words;
  }

  TempDir dir_;
};

}
