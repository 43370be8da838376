#pragma once

#include <signal.h>

#include <functional>

#include "core/base/signal_watch.h"

namespace regraft::launch {

/// The signals a worker obeys: SIGTERM and SIGINT ask it to save and stop, SIGUSR1 to save.
class WorkerSignals {
 public:
  WorkerSignals(const std::function<void()>& on_stop, const std::function<void()>& on_save)
      : watch_(
            {SIGTERM, SIGINT, SIGUSR1}, [=](int signal) { (signal == SIGUSR1 ? on_save : on_stop)(); },
            SignalWatch::After::blocked) {}

 private:
  SignalWatch watch_;
};

}
