#pragma once

#include "launch/commands/commands.h"

namespace regraft::launch {

/// As the functions of commands.h: rollouts as action logs.
void add_collect(CLI::App& program, Action& action);

}  // namespace regraft::launch
