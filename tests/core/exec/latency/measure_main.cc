// What `regraft_runtime measure-one` does, as a program of its own for the tests.
#include <iostream>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/exec/latency/measurement.h"

int main(int argc, char** argv) {
  try {
    const auto request = regraft::exec::request_from_arguments({argv + 1, argv + argc});
    std::cout << regraft::exec::to_json(regraft::exec::measure_here(request)) << "\n";
    return 0;
  } catch (const regraft::Error& error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
}
