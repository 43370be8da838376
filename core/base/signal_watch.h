#pragma once

#include <signal.h>

#include <functional>
#include <initializer_list>
#include <stop_token>
#include <thread>

#include "core/base/file.h"

namespace regraft {

/// Takes signals on a thread of its own and calls back there. Blocks them for the thread that makes it, and
/// so for all that it starts later: make it first in main. Those that this process ignores (nohup, say) stay
/// so.
class SignalWatch {
 public:
  enum class After { blocked, as_before };  // what the signals are once it is gone
  SignalWatch(std::initializer_list<int> signals, std::function<void(int)> on_signal, After after);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

 private:
  void watch(const std::stop_token& stopped);

  std::function<void(int)> on_signal_;
  After after_;
  sigset_t before_{};
  FileDescriptor signals_, wake_;
  std::jthread thread_;
};

/// Ends this process as if the signal had never been taken.
[[noreturn]] void end_process_by(int signal);

}
