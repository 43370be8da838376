#pragma once

#include "launch/command/command.h"

namespace regraft::launch {

/// --threads, exec::kThreadsOfRuntime where it is not given: see exec::session_threads.
Option* add_threads_option(Command& command, int& threads);

}
