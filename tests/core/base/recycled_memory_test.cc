#include "core/base/recycled_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "core/base/bounded_memo.h"
#include "core/base/inline_vector.h"
#include "core/base/rng.h"

namespace regraft {
namespace {

// Random blocks of all sizes, each with its own contents: nobody's are overwritten by another's.
TEST(RecycledMemory, BlocksDoNotOverlap) {
  struct Held {
    unsigned char* block;
    std::size_t bytes;
    unsigned char mark;
  };
  Rng rng(1, "blocks");
  std::vector<Held> held;
  const auto give_back = [&](std::size_t at) {
    const Held one = held[at];
    EXPECT_TRUE(
        std::all_of(one.block, one.block + one.bytes, [&](unsigned char c) { return c == one.mark; }));
    give_memory(one.block, one.bytes);
    held[at] = held.back();
    held.pop_back();
  };
  for (int step = 0; step < 20000; ++step) {
    if (held.size() < 200 && rng.below(2) == 0) {
      const std::size_t bytes = 1 + rng.below(rng.below(20) == 0 ? 10000 : 300);
      auto* const block = static_cast<unsigned char*>(take_memory(bytes));
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(block) % __STDCPP_DEFAULT_NEW_ALIGNMENT__, 0u);
      const auto mark = static_cast<unsigned char>(step);
      std::memset(block, mark, bytes);
      held.push_back({block, bytes, mark});
    } else if (!held.empty()) {
      give_back(rng.below(held.size()));
    }
  }
  while (!held.empty()) give_back(0);
}

TEST(RecycledMemory, ABlockThatWasGivenBackIsTakenAgain) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "under AddressSanitizer all blocks are the heap's";
#endif
  void* const block = take_memory(100);
  give_memory(block, 100);
  EXPECT_EQ(take_memory(128), block) << "of the same power of two";
  EXPECT_NE(take_memory(100), block);
}

// More blocks than a thread keeps, taken by one thread and given back by another.
TEST(RecycledMemory, BlocksMayChangeThreads) {
  std::vector<InlineVector<int, 2>> lists;
  std::thread([&] {
    for (int i = 0; i < 5000; ++i) lists.push_back(InlineVector<int, 2>(100, i));
  }).join();
  for (int i = 0; i < 5000; ++i) EXPECT_EQ(lists[static_cast<std::size_t>(i)][99], i);
  std::thread([&] { lists.clear(); }).join();
  EXPECT_TRUE(lists.empty());
}

class Memo : public ::testing::Test {
 protected:
  using Numbers = BoundedMemo<std::uint64_t>;
  static Hash128 key(std::uint64_t i) {
    Hasher hasher;
    hasher.add(i);
    return hasher.finish();
  }
  void expect(std::uint64_t i) {
    ASSERT_TRUE(memo.find(key(i))) << i;
    EXPECT_EQ(*memo.find(key(i)), i);
  }
  Numbers memo;
};

TEST_F(Memo, FindsTheLastThatItWasToldOrAsked) {
  constexpr std::uint64_t kSure = Numbers::kMost / 2;
  for (std::uint64_t i = 0; i < 3 * kSure; ++i) memo.add(key(i), i);
  for (std::uint64_t i = 2 * kSure; i < 3 * kSure; ++i) expect(i);
  memo.add(key(3), 4);
  EXPECT_EQ(*memo.find(key(3)), 4u);
  memo.add(key(3), 5);
  EXPECT_EQ(*memo.find(key(3)), 5u);
  EXPECT_EQ(memo.find(key(4 * kSure)), nullptr);
}

TEST_F(Memo, IsBoundedAndKeepsWhatIsAskedFor) {
  memo.add(key(0), 0);
  memo.add(key(1), 1);
  for (std::uint64_t i = 2; i < 10 * Numbers::kMost; ++i) {
    memo.add(key(i), i);
    ASSERT_LE(memo.size(), Numbers::kMost);
    if (i % 1000 == 0) expect(0);
  }
  expect(0);
  EXPECT_EQ(memo.find(key(1)), nullptr) << "nobody asked";
  memo.clear();
  EXPECT_EQ(memo.find(key(0)), nullptr);
  EXPECT_EQ(memo.size(), 0u);
}

}  // namespace
}
