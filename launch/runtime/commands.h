#pragma once

#include "launch/call/exit_code.h"
#include "launch/command/command.h"

namespace regraft::launch {

// The commands of regraft_runtime. Those for people are commands of regraft, too.
void add_find_feed(Command& program, Action& action);
void add_verify(Command& program, Action& action);
void add_profile(Command& program, Action& action);
void add_measure_one(Command& program, Action& action);
void add_draw_inputs(Command& program, Action& action);  // with measure_one

}
