#include "core/base/text.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "core/base/rng.h"

namespace regraft {
namespace {

TEST(EditDistance, CountsInsertionsDeletionsSubstitutionsAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("ppo.lr", "ppo.rl"), 1u);
  EXPECT_EQ(edit_distance("ca", "abc"), 3u);  // alignment distance: a swapped pair is not edited again
}

TEST(EditDistance, EqualsThePlainRecursionOnRandomWords) {
  const std::uint64_t seed = 11;
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  Rng rng(seed, "words");
  const std::function<std::size_t(std::string_view, std::string_view)> slow = [&](std::string_view a,
                                                                                  std::string_view b) {
    if (a.empty() || b.empty()) return a.size() + b.size();
    const auto shorter = [](std::string_view text, std::size_t by) {
      return text.substr(0, text.size() - by);
    };
    std::size_t best = slow(shorter(a, 1), shorter(b, 1)) + (a.back() == b.back() ? 0 : 1);
    best = std::min({best, slow(shorter(a, 1), b) + 1, slow(a, shorter(b, 1)) + 1});
    if (a.size() > 1 && b.size() > 1 && a.back() == b[b.size() - 2] && a[a.size() - 2] == b.back()) {
      best = std::min(best, slow(shorter(a, 2), shorter(b, 2)) + 1);
    }
    return best;
  };
  for (int trial = 0; trial < 300; ++trial) {
    std::string a, b;
    for (auto n = rng.below(6); n > 0; --n) a += static_cast<char>('a' + rng.below(3));
    for (auto n = rng.below(6); n > 0; --n) b += static_cast<char>('a' + rng.below(3));
    EXPECT_EQ(edit_distance(a, b), slow(a, b)) << a << " " << b;
  }
}

TEST(Nearest, GivesTheClosestOrNothing) {
  const std::vector<std::string> names{"train", "optimise", "verify", "inspect"};
  EXPECT_EQ(nearest("optimize", names), "optimise");
  EXPECT_EQ(nearest("trian", names), "train");
  EXPECT_EQ(nearest("banana", names), std::nullopt);
  EXPECT_EQ(nearest("x", std::vector<std::string>{}), std::nullopt);
  EXPECT_EQ(nearest("TRAIN", names), "train") << "without regard to case";
  EXPECT_EQ(nearest("foo", std::vector<std::string>{"log"}), std::nullopt);
  EXPECT_EQ(nearest("zz", std::vector<std::string>{"ab"}), std::nullopt);
}

TEST(Suggestion, AsksListsOrStaysSilent) {
  const std::vector<std::string> few{"greedy", "taso"};
  EXPECT_EQ(suggestion("gredy", few), "did you mean 'greedy'?");
  EXPECT_EQ(suggestion("monte-carlo", few), "one of greedy, taso");
  const std::vector<std::string> many(20, "something-long");
  EXPECT_EQ(suggestion("monte-carlo", many), "");
}

TEST(IsUtf8, FollowsRfc3629) {
  for (const std::string_view good :
       {"", "plain", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(is_utf8(good)) << good;
  }
  // A lone continuation, a cut sequence, overlong forms, a surrogate, past the last code point, an impossible
  // byte.
  for (const std::string_view bad : {"\x80", "\xE2\x82", "\xC0\xAF", "\xE0\x80\xAF", "\xF0\x80\x80\xAF",
                                     "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xFF", "\xC3("}) {
    EXPECT_FALSE(is_utf8(bad));
  }
}

TEST(Join, PutsTheSeparatorBetween) {
  EXPECT_EQ(join(std::vector<std::string>{}, ", "), "");
  EXPECT_EQ(join(std::vector<std::string>{"a"}, ", "), "a");
  EXPECT_EQ(join(std::vector<std::string>{"a", "a", "b"}, ", "), "a, a, b");
}

}  // namespace
}
