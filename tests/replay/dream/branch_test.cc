#include "replay/dream/branch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "core/base/rng.h"
#include "core/nn/dream_world.h"
#include "replay/dream/dream_work.h"
#include "replay/rollout/replay_error.h"

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
  work.individuals = {{1, 2}, {3, 4}};
  const Bytes bytes = encode_work(work);
  const DreamWork back = decode_work(bytes);
  EXPECT_EQ(back.individuals, work.individuals);
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

/// A real episode of four steps in a world where every rule stays legal; `last` is legal behind its end.
BranchRecorder real_episode(const nn::DreamStart& start, std::uint16_t last) {
  BranchRecorder recorder;
  for (std::uint32_t t = 0; t <= 4; ++t) {
    nn::DreamStart point = start;
    point.steps = t;
    std::ranges::fill(point.counts, t == 4 ? last : std::uint16_t{1});
    recorder.state(point);
    if (t < 4) recorder.acted({0, 0}, 0.125 * t);
  }
  return recorder;
}

TEST(Branches, ADreamIsHeldAgainstTheRealEpisodeStepByStep) {
  SCOPED_TRACE(kSeed);
  const nn::WorldModel world = test::endless_world(kSeed);
  const nn::DreamStart start = nn::start_of(world.starts.front());
  nn::Dream dream(world, {}, 1);
  const std::vector<Branch> branches = real_episode(start, 0).branches(dream, 3, 9, 2, 1);
  ASSERT_EQ(branches.size(), 4u) << "every point that has a step behind it, once";
  std::set<std::uint32_t> points;
  for (const Branch& branch : branches) {
    EXPECT_EQ(branch.model, 3u);
    points.insert(branch.start.steps);
    ASSERT_EQ(branch.steps.size(), std::min(2u, 4 - branch.start.steps));
    dream.reset(0, branch.start, 0);
    const env::Action first{0, 0};
    const auto predicted = static_cast<float>(dream.step({&first, 1}).front().reward);
    EXPECT_EQ(branch.steps.front().predicted, predicted) << "a reward is of h and the action alone";
    for (std::uint32_t i = 0; i < branch.steps.size(); ++i) {
      const std::uint32_t t = branch.start.steps + i;
      EXPECT_EQ(branch.steps[i].real, 0.125f * static_cast<float>(t));
      EXPECT_EQ(branch.steps[i].hits, t < 3 ? 5 : 0);
      EXPECT_EQ(branch.steps[i].false_alarms, t < 3 ? 0 : 5) << "the dream goes on behind the real end";
      EXPECT_EQ(branch.steps[i].misses, 0);
    }
  }
  EXPECT_EQ(points.size(), 4u);
  EXPECT_EQ(real_episode(start, 0).branches(dream, 3, 2, 2, 1).size(), 2u);
}

TEST(Branches, ADreamThatEndsTooEarlyPromisesNothingAndMissesWhatIsLegal) {
  SCOPED_TRACE(kSeed);
  const nn::WorldModel world = test::endless_world(kSeed);
  nn::Dream dream(world, {.horizon = 2, .sample = {}}, 1);
  for (const Branch& branch :
       real_episode(nn::start_of(world.starts.front()), 1).branches(dream, 0, 9, 9, 1)) {
    for (std::uint32_t i = 0; i < branch.steps.size(); ++i) {
      const std::uint32_t t = branch.start.steps + i;
      const bool dreamt_on = t == 0, behind = t == 3;  // a dream is at its horizon after its step 2
      EXPECT_EQ(branch.steps[i].hits, dreamt_on ? 5 : 0) << t;
      EXPECT_EQ(branch.steps[i].misses, dreamt_on || behind ? 0 : 5) << t;
      EXPECT_EQ(branch.steps[i].false_alarms, 0) << "both have ended";
      if (i > 0 && t >= 2) {
        EXPECT_EQ(branch.steps[i].predicted, 0.0f);
      }
    }
  }
}

TEST(Branches, ReturnsComeBackAndEveryTornOneIsRefused) {
  const DreamReturns returns{1, 2, 3, 4, 5, {0.5f, -1}};
  const Bytes bytes = encode_returns(returns);
  EXPECT_EQ(decode_returns(bytes), returns);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(decode_returns(std::span(bytes).first(size)), ReplayError) << size;
}

TEST(Branches, TicketsOfAGenerationGoRoundTheModelsThenTheCandidates) {
  std::vector<std::size_t> individuals;
  for (std::uint64_t sequence = 0; sequence < 8; ++sequence)
    individuals.push_back(individual_of(sequence, 2, 3));
  EXPECT_EQ(individuals, (std::vector<std::size_t>{0, 0, 1, 1, 2, 2, 0, 0}));
}

}  // namespace
}
