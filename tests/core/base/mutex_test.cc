#include "core/base/mutex.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace regraft {
namespace {

using namespace std::chrono_literals;

struct Box {
  Mutex mutex;
  ConditionVariable changed;
  bool full GUARDED_BY(mutex) = false;

  void fill() {
    const MutexLock lock(mutex);
    full = true;
    changed.notify_all();
  }
};

TEST(MutexTest, WhatIsWaitedForIsSeen) {
  Box box;
  const std::jthread other([&] { box.fill(); });
  MutexLock lock(box.mutex);
  box.changed.wait(lock, [&]() REQUIRES(box.mutex) { return box.full; });
  EXPECT_TRUE(box.full);
}

TEST(MutexTest, AWaitEndsWithItsTimeOrAStop) {
  Box box;
  const auto full = [&]() REQUIRES(box.mutex) { return box.full; };
  std::stop_source stop;
  stop.request_stop();
  MutexLock lock(box.mutex);
  EXPECT_FALSE(box.changed.wait_for(lock, 0ms, full));
  EXPECT_FALSE(box.changed.wait_until(lock, std::chrono::steady_clock::now(), full));
  EXPECT_FALSE(box.changed.wait(lock, stop.get_token(), full));
}

TEST(MutexTest, ALockThatIsGivenUpLetsOthersIn) {
  Box box;
  MutexLock lock(box.mutex);
  lock.unlock();
  std::thread([&] { box.fill(); }).join();
  lock.lock();
  EXPECT_TRUE(box.full);
}

}  // namespace
}
