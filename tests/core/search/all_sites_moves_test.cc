#include "core/search/all_sites_moves.h"

#include <gmock/gmock.h>

#include "core/env/synthetic.h"
#include "core/graph/order.h"

namespace regraft::search {
namespace {

using ::testing::Each;
using ::testing::Field;
using ::testing::Le;

struct State {
  env::SyntheticTask task = env::make_synthetic_task({});
  rules::RuleSet rules = env::make_synthetic_rules(env::SyntheticOptions{}.valley);
  env::TableCostFactory costs = env::make_synthetic_costs(env::SyntheticOptions{}.rise_us);
  env::RewriteState state{*task.start, rules, costs};
};

TEST(AllSitesMoves, LeadWhereTheirRulesLead) {
  State world;
  const auto moves = all_sites_moves(world.state, 1e9);
  ASSERT_FALSE(moves.empty());
  for (const AllSitesMove& move : moves) {
    for (const rules::Match& match : move.steps) world.state.apply(match);
    EXPECT_DOUBLE_EQ(world.state.cost_model().latency_us(), move.latency_us);
    const Hash128 reached = graph::structural_hash(world.state.graph());
    world.state.rewind_to(0);
    take_move(world.state, move.rule);
    EXPECT_EQ(graph::structural_hash(world.state.graph()), reached);
    world.state.rewind_to(0);
  }
}

TEST(AllSitesMoves, ComeCheapestFirstAndLeaveTheStateAsItWas) {
  State world;
  const double present_us = world.state.cost_model().latency_us();
  const auto all = all_sites_moves(world.state, 1e9);
  EXPECT_TRUE(std::ranges::is_sorted(all, {}, &AllSitesMove::latency_us));
  EXPECT_EQ(world.state.depth(), 0u);
  EXPECT_DOUBLE_EQ(world.state.cost_model().latency_us(), present_us);
  const double middle_us = all[all.size() / 2].latency_us;
  EXPECT_THAT(all_sites_moves(world.state, middle_us), Each(Field(&AllSitesMove::latency_us, Le(middle_us))));
}

}  // namespace
}
