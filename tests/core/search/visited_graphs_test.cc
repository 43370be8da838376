#include "core/search/visited_graphs.h"

#include <gtest/gtest.h>

#include "core/base/hash.h"

namespace regraft::search {
namespace {

Hash128 hash_of(std::uint64_t number) {
  Hasher hasher(1);
  hasher.add(number);
  return hasher.finish();
}

TEST(VisitedGraphs, KnowsAllWhileThereIsRoom) {
  VisitedGraphs visited;
  EXPECT_TRUE(visited.insert({}));
  EXPECT_FALSE(visited.insert({}));
  for (std::uint64_t i = 0; i < 10'000; ++i) EXPECT_TRUE(visited.insert(hash_of(i)));
  for (std::uint64_t i = 0; i < 10'000; ++i) EXPECT_FALSE(visited.insert(hash_of(i)));
  EXPECT_EQ(visited.inserted(), 10'001u);
  EXPECT_FALSE(visited.contains(hash_of(10'000)));
  EXPECT_TRUE(visited.erase(hash_of(7)));
  EXPECT_FALSE(visited.erase(hash_of(7)));
  EXPECT_FALSE(visited.contains(hash_of(7)));
}

TEST(VisitedGraphs, StaysWithinItsBoundAndKnowsTheLatest) {
  constexpr std::size_t kBytes = 1 << 14;
  VisitedGraphs visited(kBytes);
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    EXPECT_TRUE(visited.insert(hash_of(i)));
    EXPECT_TRUE(visited.contains(hash_of(i)));
  }
  std::uint64_t known = 0;
  for (std::uint64_t i = 0; i < 100'000; ++i) known += visited.contains(hash_of(i)) ? 1 : 0;
  EXPECT_EQ(known, kBytes / sizeof(Hash128));
}

}  // namespace
}
