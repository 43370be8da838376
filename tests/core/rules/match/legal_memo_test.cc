#include "core/rules/match/legal_memo.h"

#include <gtest/gtest.h>

namespace regraft::rules {
namespace {

// Matches of one rule that differ in the number of members alone.
bool ask(LegalMemo& memo, std::size_t match, std::size_t& checks) {
  memo.begin(1);
  memo.add_count(match);
  return memo.legal([&] {
    ++checks;
    return match % 3 == 0;
  });
}

TEST(LegalMemo, ChecksAMatchOnceAndAnswersAsTheCheckDid) {
  LegalMemo memo;
  std::size_t checks = 0;
  for (std::size_t match = 0; match < 500; ++match) {
    for (int again = 0; again < 3; ++again) EXPECT_EQ(ask(memo, match, checks), match % 3 == 0);
  }
  EXPECT_EQ(checks, 500u);
}

TEST(LegalMemo, RemembersWhileItGrowsAndAnswersRightlyWhenItIsFull) {
  LegalMemo memo;
  std::size_t checks = 0;
  constexpr std::size_t kFew = LegalMemo::kMostSlots / 8;
  for (std::size_t match = 0; match < kFew; ++match) ask(memo, match, checks);
  const std::size_t first = checks;
  for (std::size_t match = 0; match < kFew; ++match) EXPECT_EQ(ask(memo, match, checks), match % 3 == 0);
  EXPECT_LT(checks - first, kFew / 2);  // what shared a slot with another is checked again
  for (std::size_t match = 0; match < 4 * LegalMemo::kMostSlots; ++match)
    ASSERT_EQ(ask(memo, match, checks), match % 3 == 0);
}

}  // namespace
}
