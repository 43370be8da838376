#include "core/base/thread_pool.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

namespace regraft {
namespace {

// Shared with helper tasks, which may start only after the loop is over and its caller gone: `body` is
// touched only for an index below count, and the caller stays until all of those are done.
struct Loop {
  Loop(std::size_t items, const std::function<void(std::size_t)>& function) : count(items), body(function) {}

  void run() {
    while (true) {
      MutexLock lock(mutex);
      if (next >= count) return;
      const std::size_t index = next++;
      const bool skip = failure != nullptr;
      lock.unlock();
      std::exception_ptr raised;
      if (!skip) {
        try {
          body(index);
        } catch (...) {
          raised = std::current_exception();
        }
      }
      lock.lock();
      if (raised && !failure) failure = raised;
      if (++finished == count) done.notify_all();
    }
  }

  void wait() {
    MutexLock lock(mutex);
    done.wait(lock, [&]() REQUIRES(mutex) { return finished == count; });
    if (failure) std::rethrow_exception(failure);
  }

  const std::size_t count;
  const std::function<void(std::size_t)>& body;
  Mutex mutex;
  ConditionVariable done;
  std::size_t next GUARDED_BY(mutex) = 0, finished GUARDED_BY(mutex) = 0;
  std::exception_ptr failure GUARDED_BY(mutex);
};

}  // namespace

ThreadPool::ThreadPool(std::size_t workers) {
  workers_.reserve(workers);
  for (std::size_t i = 0; i < workers; ++i) {
    workers_.emplace_back([this](const std::stop_token& stop) { work(stop); });
  }
}

void ThreadPool::parallel_for(std::size_t count, const std::function<void(std::size_t)>& body) {
  if (count == 0) return;
  const auto loop = std::make_shared<Loop>(count, body);
  const std::size_t helpers = std::min(workers_.size(), count - 1);
  for (std::size_t i = 0; i < helpers; ++i) enqueue([loop] { loop->run(); });
  loop->run();
  loop->wait();
}

void ThreadPool::enqueue(std::function<void()> task) {
  {
    const MutexLock lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  waiting_.notify_one();
}

void ThreadPool::work(const std::stop_token& stop) {
  while (true) {
    MutexLock lock(mutex_);
    waiting_.wait(lock, stop, [&]() REQUIRES(mutex_) { return !tasks_.empty(); });
    if (stop.stop_requested()) return;
    std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
  }
}

}
