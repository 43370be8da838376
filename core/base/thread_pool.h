#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <stop_token>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace regraft {

/// A fixed number of worker threads over one queue of tasks. Members may be called from any thread, from a
/// task too. The destructor lets the tasks that are running end, drops the ones that are waiting (their
/// futures then say broken_promise), and joins.
class ThreadPool {
 public:
  /// `workers` >= 0; with none, parallel_for runs in the caller and submitted tasks never start.
  explicit ThreadPool(std::size_t workers);
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  std::size_t workers() const { return workers_.size(); }

  /// The future carries the task's value or its exception.
  template <typename Task>
  std::future<std::invoke_result_t<Task&>> submit(Task task) {
    std::packaged_task<std::invoke_result_t<Task&>()> packaged(std::move(task));
    auto future = packaged.get_future();
    enqueue(std::packaged_task<void()>([inner = std::move(packaged)]() mutable { inner(); }));
    return future;
  }

  /// Calls body(0) ... body(count - 1), each once, in the workers and the caller, and returns when all are
  /// done. The first exception is thrown on after that; items not begun by then are skipped.
  void parallel_for(std::size_t count, const std::function<void(std::size_t)>& body);

 private:
  void enqueue(std::packaged_task<void()> task);
  void work(const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable_any waiting_;
  std::deque<std::packaged_task<void()>> tasks_;
  std::vector<std::jthread> workers_;  // last: joined before the rest goes
};

}  // namespace regraft
