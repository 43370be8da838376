#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>

// Clang's thread-safety analysis reads these; to other compilers they say nothing. tests/run.sh runs it.
#ifdef __clang__
#define REGRAFT_THREAD_ATTRIBUTE(attribute) __attribute__((attribute))
#else
#define REGRAFT_THREAD_ATTRIBUTE(attribute)
#endif

/// On a member: it is read and written with that mutex held.
#define GUARDED_BY(mutex) REGRAFT_THREAD_ATTRIBUTE(guarded_by(mutex))
/// On a function or a lambda: its callers hold that mutex.
#define REQUIRES(mutex) REGRAFT_THREAD_ATTRIBUTE(requires_capability(mutex))

namespace regraft {

/// std::mutex, known to the analysis. Take it by a MutexLock.
class REGRAFT_THREAD_ATTRIBUTE(capability("mutex")) Mutex {
 public:
  void lock() REGRAFT_THREAD_ATTRIBUTE(acquire_capability())
      REGRAFT_THREAD_ATTRIBUTE(no_thread_safety_analysis) {
    mutex_.lock();
  }
  void unlock() REGRAFT_THREAD_ATTRIBUTE(release_capability())
      REGRAFT_THREAD_ATTRIBUTE(no_thread_safety_analysis) {
    mutex_.unlock();
  }

 private:
  std::mutex mutex_;
};

/// Holds a mutex while it lives; may give it up in between.
class REGRAFT_THREAD_ATTRIBUTE(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) REGRAFT_THREAD_ATTRIBUTE(acquire_capability(mutex)) : held_(mutex) {}
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;
  ~MutexLock() REGRAFT_THREAD_ATTRIBUTE(release_capability()) {}

  void lock() REGRAFT_THREAD_ATTRIBUTE(acquire_capability())
      REGRAFT_THREAD_ATTRIBUTE(no_thread_safety_analysis) {
    held_.lock();
  }
  void unlock() REGRAFT_THREAD_ATTRIBUTE(release_capability())
      REGRAFT_THREAD_ATTRIBUTE(no_thread_safety_analysis) {
    held_.unlock();
  }

 private:
  friend class ConditionVariable;
  std::unique_lock<Mutex> held_;
};

/// std::condition_variable for Mutex. What is waited for is asked with the lock held: write
/// `[&]() REQUIRES(mutex_) { return ...; }`.
class ConditionVariable {
 public:
  void notify_one() { changed_.notify_one(); }
  void notify_all() { changed_.notify_all(); }

  template <typename Condition>
  void wait(MutexLock& lock, Condition holds) {
    changed_.wait(lock.held_, holds);
  }
  /// The rest returns whether it holds: not where the time was over, or a stop was asked for, before it did.
  template <typename Condition>
  bool wait(MutexLock& lock, const std::stop_token& stop, Condition holds) {
    return changed_.wait(lock.held_, stop, holds);
  }
  template <typename Duration, typename Condition>
  bool wait_for(MutexLock& lock, const Duration& duration, Condition holds) {
    return changed_.wait_for(lock.held_, duration, holds);
  }
  template <typename TimePoint, typename Condition>
  bool wait_until(MutexLock& lock, const TimePoint& end, Condition holds) {
    return changed_.wait_until(lock.held_, end, holds);
  }

 private:
  std::condition_variable_any changed_;
};

}
