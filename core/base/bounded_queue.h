#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

namespace regraft {

/// A first-in first-out queue between any number of producers and consumers, holding at most `capacity` > 0
/// items: a producer waits while it is full, a consumer while it is empty. After close() pushes are refused
/// and pops give what is left, then nothing. All members may be called from any thread.
template <typename T>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t capacity) : capacity_(capacity) {}

  /// Waits for room. False, with the item dropped, when the queue is closed or `stop` is requested first.
  bool push(T item, std::stop_token stop = {}) {
    std::unique_lock lock(mutex_);
    if (!room_.wait(lock, stop, [&] { return closed_ || items_.size() < capacity_; }) || closed_)
      return false;
    items_.push_back(std::move(item));
    lock.unlock();
    filled_.notify_one();
    return true;
  }

  /// Takes from `item` when there is room at once; else leaves it as it was and gives false.
  bool try_push(T& item) {
    {
      const std::lock_guard lock(mutex_);
      if (closed_ || items_.size() >= capacity_) return false;
      items_.push_back(std::move(item));
    }
    filled_.notify_one();
    return true;
  }

  /// Waits for an item. Nothing when `stop` is requested, or the queue is closed and empty.
  std::optional<T> pop(std::stop_token stop = {}) {
    std::unique_lock lock(mutex_);
    if (!filled_.wait(lock, stop, [&] { return closed_ || !items_.empty(); })) return std::nullopt;
    return take(lock);
  }

  /// As pop, but waits no longer than `limit`.
  template <typename Rep, typename Period>
  std::optional<T> pop_for(std::chrono::duration<Rep, Period> limit, std::stop_token stop = {}) {
    std::unique_lock lock(mutex_);
    if (!filled_.wait_for(lock, stop, limit, [&] { return closed_ || !items_.empty(); })) return std::nullopt;
    return take(lock);
  }

  std::optional<T> try_pop() {
    std::unique_lock lock(mutex_);
    return take(lock);
  }

  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    room_.notify_all();
    filled_.notify_all();
  }

  bool closed() const {
    const std::lock_guard lock(mutex_);
    return closed_;
  }
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return items_.size();
  }
  std::size_t capacity() const { return capacity_; }

 private:
  std::optional<T> take(std::unique_lock<std::mutex>& lock) {
    if (items_.empty()) return std::nullopt;
    std::optional<T> item(std::move(items_.front()));
    items_.pop_front();
    lock.unlock();
    room_.notify_one();
    return item;
  }

  const std::size_t capacity_;
  mutable std::mutex mutex_;
  std::condition_variable_any room_, filled_;
  std::deque<T> items_;
  bool closed_ = false;
};

}  // namespace regraft
