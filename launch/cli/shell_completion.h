#pragma once

#include <string>

#include "launch/command/command_tree.h"

namespace regraft::launch {

/// Scripts that make a shell complete the program's commands, options and choices. Both know all of it when
/// they are written: nothing is started at a key press. Where a value or an argument has no choices, file
/// names are offered.
std::string bash_completion(const CommandInfo& program);
/// May be read by `source`, or lie as _regraft in a folder of zsh's fpath.
std::string zsh_completion(const CommandInfo& program);

}
