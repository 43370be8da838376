#pragma once

#include <atomic>
#include <functional>
#include <stop_token>
#include <thread>

#include "core/base/file.h"

namespace regraft::launch {

/// The signals a worker obeys: SIGTERM and SIGINT ask it to save and stop, SIGUSR1 to save. Blocks them for
/// the thread that makes it, and so for all that it starts later: make it first in main. Callbacks run on a
/// thread of its own.
class WorkerSignals {
 public:
  WorkerSignals(std::function<void()> on_stop, std::function<void()> on_save);
  ~WorkerSignals();
  WorkerSignals(const WorkerSignals&) = delete;
  WorkerSignals& operator=(const WorkerSignals&) = delete;

 private:
  void watch(const std::stop_token& stopped);

  std::function<void()> on_stop_, on_save_;
  FileDescriptor signals_, wake_;
  std::jthread thread_;
};

}  // namespace regraft::launch
