#include "launch/command/threads_option.h"

#include "core/exec/runtime/ort_session.h"

namespace regraft::launch {

Option* add_threads_option(Command& command, int& threads) {
  threads = exec::kThreadsOfRuntime;
  return command
      .add_option(
          "--threads", threads,
          "threads that the runtime uses inside an op (default: the runtime's own choice, one a core)")
      ->check(in_range(1, 1024));
}

}
