#pragma once

#include <nlohmann/json.hpp>

namespace regraft::launch {

/// This process becomes the Python package launch/experiments, which makes experiments and reports: signals
/// and the exit code are its own. `call` is what it reads: "command", and what the command's options say. It
/// is looked for above the program, in launch/ of a source tree or beside configs/ of a wheel, and run by
/// Debian's Python, for which launch/setup.sh installs what it imports, or by that of REGRAFT_PYTHON. Throws
/// Error where either is missing.
[[noreturn]] void become_experiments(const nlohmann::json& call);

}  // namespace regraft::launch
