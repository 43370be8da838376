#include "core/env/synthetic.h"

#include <gtest/gtest.h>

#include <optional>

#include "core/env/env_error.h"
#include "core/env/exhaustive.h"
#include "core/env/rewrite_state.h"
#include "core/graph/order.h"
#include "support/validate.h"

namespace regraft::env {
namespace {

/// Steepest descent, written out once more.
double descend(const SyntheticTask& task, const rules::RuleSet& rules, const cost::CostFactory& costs) {
  RewriteState state(*task.start, rules, costs);
  while (true) {
    std::optional<rules::Match> choice;
    double least = state.cost().latency_us - 1e-9;
    for (std::uint32_t rule = 0; rule < rules.size(); ++rule) {
      for (const rules::Match& match : state.index().matches(rule)) {
        const double latency_us = state.peek_latency_us(match);
        if (latency_us >= least) continue;
        least = latency_us;
        choice = match;
      }
    }
    if (!choice) return state.cost().latency_us;
    state.apply(*choice);
  }
}

TEST(Synthetic, OptimumIsAsSaidAndGreedyFails) {
  for (std::uint32_t valley = 1; valley <= 3; ++valley) {
    const rules::RuleSet rules = make_synthetic_rules(valley);
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      SyntheticOptions options{.chains = valley == 1 ? 5u : 4u,
                               .locked = 1 + static_cast<std::uint32_t>(seed % 2),
                               .valley = valley,
                               .seed = seed};
      SCOPED_TRACE("valley " + std::to_string(valley) + " seed " + std::to_string(seed));
      const SyntheticTask task = make_synthetic_task(options);
      const TableCostFactory costs = make_synthetic_costs(options.rise_us);
      graph::validate(*task.start);
      EXPECT_NEAR(costs.make(*task.start)->cost().latency_us, task.initial_us, 1e-9);
      const Optimum found = exhaustive_optimum(*task.start, rules, costs, 100'000);
      ASSERT_TRUE(found.complete);
      EXPECT_NEAR(found.latency_us, task.optimal_us, 1e-9) << found.graphs << " graphs";
      EXPECT_EQ(found.steps, task.optimal_steps);
      EXPECT_NEAR(descend(task, rules, costs), task.greedy_us, 1e-9);
      const double possible = task.initial_us - task.optimal_us;
      EXPECT_LT(task.initial_us - task.greedy_us, 0.25 * possible)
          << "greedy finds less than a quarter of the gain";
    }
  }
}

TEST(Synthetic, OneLocationOfManyLeadsToTheGain) {
  const SyntheticOptions options{.chains = 9, .locked = 1, .valley = 1, .seed = 11};
  const SyntheticTask task = make_synthetic_task(options);
  const rules::RuleSet rules = make_synthetic_rules(1);
  const TableCostFactory costs = make_synthetic_costs(options.rise_us);
  RewriteState state(*task.start, rules, costs);
  ASSERT_EQ(state.index().matches(0).size(), 9u);
  std::size_t unlocking = 0;
  for (std::size_t location = 0; location < 9; ++location) {
    const double before = state.cost().latency_us;
    state.apply(state.index().matches(0)[location]);
    EXPECT_GT(state.cost().latency_us, before);
    unlocking += state.index().matches(1).size();
    state.rewind_to(0);
  }
  EXPECT_EQ(unlocking, 1u);
}

TEST(Synthetic, EqualOptionsGiveEqualGraphsAndSeedsDiffer) {
  const SyntheticTask one = make_synthetic_task({.chains = 8, .seed = 3});
  const SyntheticTask same = make_synthetic_task({.chains = 8, .seed = 3});
  EXPECT_EQ(graph::structural_hash(*one.start), graph::structural_hash(*same.start));
  std::size_t different = 0;
  for (std::uint64_t seed = 4; seed < 8; ++seed) {
    different += graph::structural_hash(*make_synthetic_task({.chains = 8, .seed = seed}).start) !=
                 graph::structural_hash(*one.start);
  }
  EXPECT_EQ(different, 4u);
}

TEST(Synthetic, RefusesOptionsOutOfRange) {
  EXPECT_THROW(make_synthetic_task({.chains = 1}), EnvError);
  EXPECT_THROW(make_synthetic_task({.chains = 4, .locked = 5}), EnvError);
  EXPECT_THROW(make_synthetic_task({.locked = 0}), EnvError);
  EXPECT_THROW(make_synthetic_task({.valley = 4}), EnvError);
  EXPECT_THROW(make_synthetic_task({.rise_us = 0}), EnvError);
  EXPECT_THROW(make_synthetic_rules(0), EnvError);
}

}  // namespace
}
