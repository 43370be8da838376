#include "replay/rollout/play.h"

#include <gtest/gtest.h>

#include <array>

#include "core/base/clock.h"
#include "core/env/synthetic.h"

namespace regraft::replay {
namespace {

constexpr std::uint64_t kSeed = 733;
constexpr double kNoop = 0.05;

class RandomCollector : public testing::Test {
 protected:
  RandomCollector()
      : task_(env::make_synthetic_task({.chains = 5, .locked = 1, .valley = 1, .seed = 3})),
        rules_(env::make_synthetic_rules(1)),
        costs_(env::make_synthetic_costs(1.0)),
        environment_(*task_.start, rules_, costs_, {.horizon = 20, .location_limit = 8}, clock_) {}

  Rollout play(std::uint64_t sequence, const Chooser& choose) {
    return play_rollout(environment_, 0, kSeed + sequence, sequence, choose);
  }
  /// Mean over episodes: what the cheapest of so many draws gains at once.
  double mean_first_reward(std::uint32_t choices) {
    const Chooser choose = random_chooser(kNoop, choices);
    double sum = 0;
    constexpr int kEpisodes = 200;
    for (int i = 0; i < kEpisodes; ++i)
      sum += static_cast<double>(play(static_cast<std::uint64_t>(i), choose).steps.front().reward);
    return sum / kEpisodes;
  }

  env::SyntheticTask task_;
  rules::RuleSet rules_;
  env::TableCostFactory costs_;
  SystemClock clock_;
  env::Environment environment_;
};

TEST_F(RandomCollector, MoreTrialsMeanCheaperSteps) {
  SCOPED_TRACE(kSeed);
  const double plain = mean_first_reward(1), some = mean_first_reward(4), many = mean_first_reward(32);
  EXPECT_LT(plain, some);
  EXPECT_LT(some, many);
}

TEST_F(RandomCollector, LooksAheadWithoutATraceAndDependsOnTheSeedAlone) {
  SCOPED_TRACE(kSeed);
  const Chooser choose = random_chooser(kNoop, 8), other = random_chooser(kNoop, 8);
  play(99, other);
  for (std::uint64_t sequence = 0; sequence < 20; ++sequence) {
    const Rollout rollout = play(sequence, choose);
    EXPECT_EQ(rollout, play(sequence, other)) << "whatever it chose before";
    environment_.reset(rollout.seed);
    for (const RolloutStep& step : rollout.steps)
      EXPECT_EQ(static_cast<float>(environment_.step({step.rule, step.location}).reward), step.reward);
    EXPECT_TRUE(environment_.done());
  }
}

TEST_F(RandomCollector, CountsWhatItLookedAtBesideWhatItDid) {
  SCOPED_TRACE(kSeed);
  const auto rewrites = [&](const Rollout& rollout) {
    std::uint64_t count = 0;
    for (const RolloutStep& step : rollout.steps) count += step.rule < rules_.size();
    return count;
  };
  bool looked = false;
  const Chooser plain = random_chooser(kNoop), choose = random_chooser(kNoop, 8);
  for (std::uint64_t sequence = 0; sequence < 20; ++sequence) {
    const Rollout rollout = play(sequence, plain);
    EXPECT_EQ(rollout.costed, rewrites(rollout));
    const Rollout some = play(sequence, choose);
    EXPECT_GE(some.costed, rewrites(some));
    EXPECT_LE(some.costed, 9 * some.steps.size());
    looked = looked || some.costed > 2 * rewrites(some);
  }
  EXPECT_TRUE(looked);
}

// Else a rule of many sites would hardly ever be seen at all of them.
TEST_F(RandomCollector, TakesARuleAtAllOfItsSitesHalfOfTheTimes) {
  SCOPED_TRACE(kSeed);
  env::Observation seen;
  seen.action_mode = env::ActionMode::all_sites;
  seen.location_counts = {5, 1, 1};  // all and four, a single site, NO-OP
  Rng rng(kSeed, "all sites");
  constexpr int kDraws = 8000;
  std::array<int, 5> first{};
  int second = 0;
  for (int i = 0; i < kDraws; ++i) {
    const env::Action action = draw_random_action(seen, 0, rng);
    ASSERT_LT(action.location, seen.location_counts[action.rule]);
    action.rule == 0 ? ++first[action.location] : ++second;
  }
  EXPECT_NEAR(second, kDraws / 2.0, 200);
  EXPECT_NEAR(first[0], kDraws / 4.0, 200);
  for (std::size_t site = 1; site < 5; ++site) EXPECT_NEAR(first[site], kDraws / 16.0, 120);
}

TEST_F(RandomCollector, EveryEpisodeDrawsHowManyTrialsItHas) {
  SCOPED_TRACE(kSeed);
  int as_plain = 0, apart = 0;
  for (std::uint64_t sequence = 0; sequence < 60; ++sequence) {
    const Rollout rollout = play(sequence, random_chooser(kNoop, 1));
    (play(sequence, random_chooser(kNoop, 2)).steps.size() == rollout.steps.size() ? as_plain : apart) += 1;
  }
  EXPECT_GT(as_plain, 0);
  EXPECT_GT(apart, 0);
}

}  // namespace
}
