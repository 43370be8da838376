#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <stop_token>
#include <thread>
#include <vector>

#include "core/base/mutex.h"

namespace regraft {

/// A fixed number of worker threads over one queue of tasks. Members may be called from any thread, from a
/// task too. The destructor lets the tasks that are running end, drops the ones that are waiting,
/// and joins.
class ThreadPool {
 public:
  /// `workers` >= 0; with none, parallel_for runs in the caller.
  explicit ThreadPool(std::size_t workers);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  std::size_t workers() const { return workers_.size(); }

  /// Calls body(0) ... body(count - 1), each once, in the workers and the caller, and returns when all are
  /// done. The first exception is thrown on after that; items not begun by then are skipped.
  void parallel_for(std::size_t count, const std::function<void(std::size_t)>& body);

 private:
  void enqueue(std::function<void()> task);
  void work(const std::stop_token& stop);

  Mutex mutex_;
  ConditionVariable waiting_;
  std::deque<std::function<void()>> tasks_ GUARDED_BY(mutex_);
  std::vector<std::jthread> workers_;  // last: joined before the rest goes
};

}
