#pragma once

#include "launch/commands/commands.h"

namespace regraft::launch {

/// As the functions of commands.h: the checks of a job's step `choice`.
void add_check_controllers(CLI::App& program, Action& action);

}  // namespace regraft::launch
