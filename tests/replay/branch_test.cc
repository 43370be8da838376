#include "replay/branch.h"

#include <gtest/gtest.h>

#include "core/base/rng.h"
#include "replay/dream_work.h"
#include "replay/error.h"

namespace regraft::replay {
namespace {

constexpr std::uint64_t kSeed = 3001;

Branch random_branch(Rng& rng) {
  Branch branch;
  branch.model = static_cast<std::uint32_t>(rng.below(5));
  branch.start.steps = static_cast<std::uint32_t>(rng.below(40));
  for (auto* part : {&branch.start.latent, &branch.start.hidden, &branch.start.cell})
    for (int i = 0; i < 7; ++i) part->push_back(static_cast<float>(rng.normal()));
  for (int i = 0; i < 6; ++i) branch.start.counts.push_back(static_cast<std::uint16_t>(rng.below(300)));
  for (std::uint64_t i = 1 + rng.below(16); i > 0; --i)
    branch.steps.push_back({static_cast<float>(rng.normal()), static_cast<float>(rng.normal()),
                            static_cast<std::uint16_t>(rng.below(9)),
                            static_cast<std::uint16_t>(rng.below(9)),
                            static_cast<std::uint16_t>(rng.below(300))});
  return branch;
}

TEST(Branches, WorkComesBackAndEveryTornOneIsRefused) {
  SCOPED_TRACE(kSeed);
  Rng rng(kSeed, "branches");
  DreamWork work;
  for (int i = 0; i < 3; ++i) work.branches.push_back(random_branch(rng));
  work.candidates = {{1, 2}, {3, 4}};
  const Bytes bytes = encode_work(work);
  const DreamWork back = decode_work(bytes);
  EXPECT_EQ(back.candidates, work.candidates);
  ASSERT_EQ(back.branches.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(back.branches[i].steps, work.branches[i].steps);
    EXPECT_EQ(back.branches[i].start.cell, work.branches[i].start.cell);
    EXPECT_EQ(back.branches[i].start.counts, work.branches[i].start.counts);
    EXPECT_EQ(back.branches[i].start.steps, work.branches[i].start.steps);
  }
  for (std::size_t size = 1; size < bytes.size(); ++size)
    EXPECT_THROW(decode_work(std::span(bytes).first(size)), ReplayError) << size;
  EXPECT_TRUE(decode_work({}).empty());
}

TEST(Branches, ReturnsComeBackAndEveryTornOneIsRefused) {
  const DreamReturns returns{1, 2, 3, 4, 5, {0.5f, -1}};
  const Bytes bytes = encode_returns(returns);
  EXPECT_EQ(decode_returns(bytes), returns);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(decode_returns(std::span(bytes).first(size)), ReplayError) << size;
}

TEST(Branches, TicketsOfAGenerationGoRoundTheModelsThenTheCandidates) {
  std::vector<std::size_t> candidates;
  for (std::uint64_t sequence = 0; sequence < 8; ++sequence)
    candidates.push_back(candidate_of(sequence, 2, 3));
  EXPECT_EQ(candidates, (std::vector<std::size_t>{0, 0, 1, 1, 2, 2, 0, 0}));
}

}  // namespace
}  // namespace regraft::replay
