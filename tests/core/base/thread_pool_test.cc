#include "core/base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace regraft {
namespace {

TEST(ThreadPool, ParallelForVisitsEachIndexOnce) {
  for (const std::size_t workers : {0u, 1u, 3u}) {
    ThreadPool pool(workers);
    for (const std::size_t count : {0u, 1u, 2u, 1000u}) {
      std::vector<std::atomic<int>> visits(count);
      pool.parallel_for(count, [&](std::size_t i) { ++visits[i]; });
      for (const auto& visit : visits) EXPECT_EQ(visit, 1);
    }
  }
}

TEST(ThreadPool, ParallelForThrowsTheFirstExceptionAfterAllWorkHasEnded) {
  ThreadPool pool(3);
  std::atomic<int> running = 0;
  const auto body = [&](std::size_t i) {
    ++running;
    const bool fail = i == 10;
    --running;
    if (fail) throw std::runtime_error("ten");
  };
  EXPECT_THROW(pool.parallel_for(100, body), std::runtime_error);
  EXPECT_EQ(running, 0);
}

TEST(ThreadPool, ParallelForInsideTasksDoesNotDeadlock) {
  ThreadPool pool(2);
  std::atomic<int> sum = 0;
  pool.parallel_for(
      8, [&](std::size_t) { pool.parallel_for(8, [&](std::size_t i) { sum += static_cast<int>(i); }); });
  EXPECT_EQ(sum, 8 * 28);
}

}  // namespace
}
