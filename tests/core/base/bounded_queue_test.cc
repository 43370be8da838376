#include "core/base/bounded_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace regraft {
namespace {

TEST(BoundedQueue, IsFirstInFirstOutAndBounded) {
  BoundedQueue<int> queue(2);
  int three = 3;
  EXPECT_TRUE(queue.push(1));
  EXPECT_TRUE(queue.push(2));
  EXPECT_FALSE(queue.try_push(three));
  EXPECT_EQ(queue.size(), 2u);
  EXPECT_EQ(queue.pop(), 1);
  EXPECT_TRUE(queue.try_push(three));
  EXPECT_EQ(queue.try_pop(), 2);
  EXPECT_EQ(queue.pop_for(std::chrono::seconds(1)), 3);
  EXPECT_EQ(queue.try_pop(), std::nullopt);
  EXPECT_EQ(queue.pop_for(std::chrono::milliseconds(1)), std::nullopt);
}

TEST(BoundedQueue, ARefusedItemStaysWithItsOwner) {
  BoundedQueue<std::unique_ptr<int>> queue(1);
  auto first = std::make_unique<int>(1), second = std::make_unique<int>(2);
  EXPECT_TRUE(queue.try_push(first));
  EXPECT_FALSE(queue.try_push(second));
  EXPECT_EQ(first, nullptr);
  ASSERT_NE(second, nullptr);
}

TEST(BoundedQueue, CloseRefusesPushesAndLetsThePopsDrain) {
  BoundedQueue<int> queue(4);
  queue.push(1);
  queue.close();
  int two = 2;
  EXPECT_FALSE(queue.push(2));
  EXPECT_FALSE(queue.try_push(two));
  EXPECT_EQ(queue.pop(), 1);
  EXPECT_EQ(queue.pop(), std::nullopt);
  EXPECT_TRUE(queue.closed());
}

TEST(BoundedQueue, CloseWakesWaitingProducersAndConsumers) {
  BoundedQueue<int> full(1), empty(1);
  full.push(1);
  std::atomic<int> refused = 0, nothing = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] { refused += !full.push(2); });
      threads.emplace_back([&] { nothing += !empty.pop(); });
    }
    full.close();
    empty.close();
  }
  EXPECT_EQ(refused, 3);
  EXPECT_EQ(nothing, 3);
}

TEST(BoundedQueue, AStopRequestWakesItsOwnWaiters) {
  BoundedQueue<int> full(1), empty(1);
  full.push(1);
  std::atomic<int> stopped = 0;
  {
    std::jthread producer([&](const std::stop_token& stop) { stopped += !full.push(2, stop); });
    std::jthread consumer([&](const std::stop_token& stop) { stopped += !empty.pop(stop); });
  }
  EXPECT_EQ(stopped, 2);
  EXPECT_FALSE(full.closed());
}

TEST(BoundedQueue, ManyProducersAndConsumersLoseAndRepeatNothing) {
  constexpr int producers = 4, consumers = 3, each = 5000;
  BoundedQueue<int> queue(7);
  std::vector<std::vector<int>> taken(consumers);
  {
    std::vector<std::jthread> consumer_threads;
    for (auto& mine : taken) {
      consumer_threads.emplace_back([&] {
        while (auto item = queue.pop()) {
          EXPECT_LE(queue.size(), queue.capacity());
          mine.push_back(*item);
        }
      });
    }
    {
      std::vector<std::jthread> producer_threads;
      for (int p = 0; p < producers; ++p) {
        producer_threads.emplace_back([&, p] {
          for (int i = 0; i < each; ++i) EXPECT_TRUE(queue.push(p * each + i));
        });
      }
    }
    queue.close();
  }
  std::vector<int> count(producers * each);
  for (const auto& mine : taken) {
    std::vector<int> last(producers, -1);  // a consumer sees each producer's items in order
    for (const int item : mine) {
      ++count[static_cast<std::size_t>(item)];
      EXPECT_GT(item, last[static_cast<std::size_t>(item / each)]);
      last[static_cast<std::size_t>(item / each)] = item;
    }
  }
  EXPECT_EQ(count, std::vector<int>(producers * each, 1));
}

}  // namespace
}  // namespace regraft
