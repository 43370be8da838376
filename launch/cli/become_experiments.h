#pragma once

#include <nlohmann/json.hpp>

namespace regraft::launch {

/// This process becomes the Python package launch/experiments, which makes experiments and reports. Signals
/// and the exit code are the package's own. `call` is what it reads: "command", and what the command's
/// options say. The package is looked for above the program: in launch/ of a source tree, or beside configs/
/// of a wheel. It is run by Debian's Python, with what launch/setup.sh installs, or by the Python that
/// REGRAFT_PYTHON names. Throws Error where either is missing.
[[noreturn]] void become_experiments(const nlohmann::json& call);

}
