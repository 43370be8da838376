#include "core/base/inline_vector.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/base/rng.h"

namespace regraft {
namespace {

using Small = InlineVector<int, 4>;

void expect_same(const Small& actual, const std::vector<int>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  EXPECT_TRUE(std::equal(actual.begin(), actual.end(), expected.begin()));
}

TEST(InlineVector, BehavesLikeAVectorUnderRandomEdits) {
  const std::uint64_t seed = 17;
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  Rng rng(seed, "edits");
  Small actual;
  std::vector<int> expected;
  for (int step = 0; step < 20000; ++step) {
    const int value = static_cast<int>(rng.below(1000));
    const std::size_t at = rng.below(expected.size() + 1);
    switch (rng.below(8)) {
      case 0:
      case 1:
        actual.push_back(value);
        expected.push_back(value);
        break;
      case 2:
        actual.insert(at, value);
        expected.insert(expected.begin() + static_cast<std::ptrdiff_t>(at), value);
        break;
      case 3:
        if (at == expected.size()) break;
        actual.erase(at);
        expected.erase(expected.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      case 4:
        if (expected.empty()) break;
        actual.pop_back();
        expected.pop_back();
        break;
      case 5:
        actual.resize(at, value);
        expected.resize(at, value);
        break;
      case 6: {
        Small copy(actual);
        Small moved(std::move(copy));
        actual = moved;
        break;
      }
      default: {
        Small moved(std::move(actual));
        actual = std::move(moved);
      }
    }
    expect_same(actual, expected);
  }
}

TEST(InlineVector, AssignsItselfAndCompares) {
  Small values{1, 2, 3, 4, 5, 6};
  const Small& alias = values;
  values = alias;
  expect_same(values, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(values, (Small{1, 2, 3, 4, 5, 6}));
  EXPECT_FALSE(values == (Small{1, 2, 3, 4, 5}));
  EXPECT_EQ(values.front(), 1);
  EXPECT_EQ(values.back(), 6);
}

TEST(InlineVector, PushingItsOwnElementWhileItGrowsIsSafe) {
  Small values{1, 2, 3, 4};
  values.push_back(values[0]);
  expect_same(values, {1, 2, 3, 4, 1});
}

}  // namespace
}
