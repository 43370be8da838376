#include "core/search/restarts.h"

#include <gtest/gtest.h>

#include "core/env/synthetic.h"
#include "core/search/conformance.h"
#include "core/search/greedy.h"

namespace regraft::search {
namespace {

/// A graph on which greedy ends in a valley one dearer rewrite away from better ones.
struct Valley {
  explicit Valley(std::uint64_t seed)
      : task(env::make_synthetic_task({.chains = 5, .locked = 1, .valley = 1, .seed = seed})) {}

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
    EXPECT_EQ(found.stopped_by, StoppedBy::expansions);
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
}

}  // namespace
}  // namespace regraft::search
