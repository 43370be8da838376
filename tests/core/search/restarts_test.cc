#include "core/search/restarts.h"

#include <gtest/gtest.h>

#include "core/env/synthetic.h"
#include "core/search/conformance.h"
#include "core/search/greedy.h"
#include "support/manual_clock.h"

namespace regraft::search {
namespace {

/// A graph on which greedy ends in a valley one dearer rewrite away from better ones.
struct Valley {
  explicit Valley(std::uint64_t seed) : Valley({.chains = 5, .locked = 1, .valley = 1, .seed = seed}) {}
  explicit Valley(const env::SyntheticOptions& options) : task(env::make_synthetic_task(options)) {}

  SearchResult run(Search& search, const SearchLimits& limits) const {
    const ManualClock clock;
    Rng rng(1, "search");
    return search.run({*task.start, rules, costs}, limits, rng, {clock});
  }

  env::SyntheticTask task;
  rules::RuleSet rules = env::make_synthetic_rules(1);
  env::TableCostFactory costs = env::make_synthetic_costs(1);
};

TEST(Restarts, LeaveTheValleyThatGreedyEndsIn) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Valley valley(seed);
    ASSERT_LT(valley.task.optimal_us, valley.task.greedy_us - 1e-9);
    const SearchResult found = valley.run(*make_restarts(), {1.0, 5000});
    EXPECT_NEAR(found.best.latency_us, valley.task.optimal_us, 1e-9) << seed;
  }
}

TEST(Restarts, FirstDoWhatGreedyDoes) {
  const Valley valley(4);
  const SearchResult greedy = valley.run(*make_greedy(), {1.0, 1000});
  ASSERT_EQ(greedy.stopped_by, StoppedBy::exhausted);
  const SearchResult same = valley.run(*make_restarts(), {1.0, greedy.expansions});
  EXPECT_EQ(same.path, greedy.path);
  EXPECT_EQ(same.candidates_costed, greedy.candidates_costed);
  for (std::uint64_t candidates = 1; candidates < 3 * greedy.candidates_costed; ++candidates) {
    const SearchLimits limits{.expansions = 1000, .candidates = candidates};
    const SearchResult found = valley.run(*make_restarts(), limits);
    EXPECT_LE(found.best.latency_us, valley.run(*make_greedy(), limits).best.latency_us) << candidates;
    EXPECT_LE(found.candidates_costed, candidates);
  }
}

TEST(Restarts, WalksOfNoStepsAreRefused) {
  EXPECT_THROW(make_restarts({.most_steps = 0}), SearchError);
  EXPECT_THROW(make_restarts({.most_known_ends = 0}), SearchError);
}

/// A few dozen graphs in all.
constexpr env::SyntheticOptions kSmall{.chains = 2, .locked = 1, .valley = 1, .seed = 5};

TEST(Restarts, EndWhereWalksMeetNothingNew) {
  const Valley valley(kSmall);
  const SearchResult found = valley.run(*make_restarts(), {1.0, 100'000});
  EXPECT_EQ(found.stopped_by, StoppedBy::exhausted);
  EXPECT_NEAR(found.best.latency_us, valley.task.optimal_us, 1e-9);
}

TEST(Restarts, DoNotDescendAgainFromWhereAWalkEndedBefore) {
  const Valley valley(kSmall);
  const SearchLimits limits{1.0, 100'000};
  const SearchResult found = valley.run(*make_restarts({.most_steps = 1, .most_known_ends = 100}), limits);
  const SearchResult longer = valley.run(*make_restarts({.most_steps = 1, .most_known_ends = 150}), limits);
  EXPECT_EQ(longer.stopped_by, StoppedBy::exhausted);
  EXPECT_EQ(longer.visited, found.visited);
  EXPECT_EQ(longer.expansions - found.expansions, 50u) << "walks of a step each, and nothing more";
  EXPECT_EQ(longer.candidates_costed - found.candidates_costed, 50u);
}

TEST(Restarts, StopAtALimitWhereEveryEndIsKnown) {
  const Valley valley(kSmall);
  const SearchResult found =
      valley.run(*make_restarts({.most_steps = 1, .most_known_ends = 1'000'000}), {1.0, 500});
  EXPECT_EQ(found.stopped_by, StoppedBy::expansions);
  EXPECT_EQ(found.expansions, 500u);
}

}  // namespace
}
