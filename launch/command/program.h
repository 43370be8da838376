#pragma once

#include <span>
#include <string>

#include "launch/command/command.h"

namespace regraft::launch {

using AddCommand = void (*)(Command& program, Action& action);

/// The main function of a program with these commands: reads the command line, does what it says, prints
/// errors, and returns the exit code.
int run_program(int argc, char** argv, const std::string& description, std::span<const AddCommand> commands);

}
