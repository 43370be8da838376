#include "core/env/rewrite_state.h"

#include <gtest/gtest.h>

#include "core/env/layered_world.h"
#include "core/graph/order.h"
#include "core/rules/lang/rule_error.h"
#include "support/validate.h"

namespace regraft::env {
namespace {

/// Index and cost of the state against those made afresh on its graph.
void expect_equals_fresh(RewriteState& state, const cost::CostFactory& costs) {
  graph::validate(state.graph());
  EXPECT_EQ(state.cost().latency_us, costs.make(state.graph())->cost().latency_us);
  const rules::MatchIndex fresh(state.rules(), state.graph());
  for (std::uint32_t rule = 0; rule < state.rules().size(); ++rule) {
    const auto held = state.index().matches(rule), expected = fresh.matches(rule);
    ASSERT_TRUE(std::equal(held.begin(), held.end(), expected.begin(), expected.end()))
        << "rule " << state.rules().info(rule).name << ": " << held.size() << " matches, fresh "
        << expected.size();
  }
}

const rules::Match* random_match(RewriteState& state, Rng& rng) {
  const std::size_t count = state.index().match_count();
  if (count == 0) return nullptr;
  std::size_t chosen = rng.below(count);
  for (std::uint32_t rule = 0;; ++rule) {
    const auto matches = state.index().matches(rule);
    if (chosen < matches.size()) return &matches[chosen];
    chosen -= matches.size();
  }
}

using Path = std::vector<rules::Match>;

/// Moves to `path` without asking the index on the way, so that it hears of undone and new nodes of one id at
/// once.
void jump(RewriteState& state, const Path& path) {
  std::size_t common = 0;
  while (common < std::min(path.size(), state.depth()) && path[common] == state.path()[common]) ++common;
  state.rewind_to(common);
  for (std::size_t i = common; i < path.size(); ++i) state.apply(path[i]);
}

TEST(RewriteState, EqualsFreshWhereverItJumps) {
  const TableCostFactory costs = LayeredWorld::costs();
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const LayeredWorld world(seed);
    RewriteState state(world.graph, world.rules, costs);
    Rng rng(seed, "jumps");
    std::vector<Path> paths = {{}};
    for (int count = 0; count < 100; ++count) {
      SCOPED_TRACE("jump " + std::to_string(count));
      jump(state, paths[rng.below(paths.size())]);
      ASSERT_NO_FATAL_FAILURE(expect_equals_fresh(state, costs));
      const rules::Match* match = random_match(state, rng);
      if (!match || state.depth() == 8) continue;
      state.peek_latency_us(*match);
      paths.emplace_back(state.path().begin(), state.path().end()).push_back(*match);
    }
  }
}

TEST(RewriteState, ForgetsWhatNoGraphHoldsFromWhereverItStands) {
  const TableCostFactory costs = LayeredWorld::costs();
  LayeredWorld world(3);
  RewriteState state(world.graph, world.rules, costs);
  graph::Tables& tables = state.graph().tables();
  Rng rng(3, "forget");
  for (int step = 0; step < 4; ++step) {
    const rules::Match* match = random_match(state, rng);
    ASSERT_NE(match, nullptr);
    // Names before the last edit, which the graph holds until it has been at its start.
    for (int i = 0; i < 6000; ++i)
      tables.intern(graph::AttrBlock{{graph::Attr::axis, std::int64_t{step * 6000 + i}}});
    state.apply(*match);
  }
  const Hash128 hash = graph::structural_hash(state.graph());
  const Path path(state.path().begin(), state.path().end());
  EXPECT_GT(tables.bound().attrs, 24'000u);
  state.forget_the_past();
  EXPECT_LT(tables.bound().attrs, 6000u);
  EXPECT_EQ(graph::structural_hash(state.graph()), hash);
  EXPECT_TRUE(std::ranges::equal(state.path(), path));
  expect_equals_fresh(state, costs);
  state.rewind_to(1);
  expect_equals_fresh(state, costs);
}

TEST(RewriteState, APeekLeavesNoTrace) {
  const TableCostFactory costs = LayeredWorld::costs();
  const LayeredWorld world(7);
  RewriteState state(world.graph, world.rules, costs);
  const Hash128 hash = graph::structural_hash(state.graph());
  const graph::NodeId bound = state.graph().id_bound();
  for (std::uint32_t rule = 0; rule < world.rules.size(); ++rule) {
    for (const rules::Match& match : state.index().matches(rule)) {
      const double peeked = state.peek_latency_us(match);
      const graph::Graph applied = replay(world.graph, world.rules, {&match, 1});
      EXPECT_EQ(peeked, costs.make(applied)->cost().latency_us);
      EXPECT_EQ(state.graph().id_bound(), bound);
    }
  }
  EXPECT_EQ(graph::structural_hash(state.graph()), hash);
  EXPECT_EQ(state.depth(), 0u);
  expect_equals_fresh(state, costs);
}

TEST(RewriteState, PathsReplayWithTheSameIds) {
  const TableCostFactory costs = LayeredWorld::costs();
  const LayeredWorld world(8);
  RewriteState state(world.graph, world.rules, costs);
  Rng rng(8, "replay");
  for (int step = 0; step < 30; ++step) {
    if (step % 5 == 4) state.rewind_to(state.depth() / 2);
    if (const rules::Match* match = random_match(state, rng)) state.apply(*match);
  }
  const graph::Graph again = replay(world.graph, world.rules, state.path());
  EXPECT_EQ(graph::structural_hash(again), graph::structural_hash(state.graph()));
  EXPECT_EQ(again.id_bound(), state.graph().id_bound());
  for (graph::NodeId id = 0; id < again.id_bound(); ++id) EXPECT_EQ(again.alive(id), state.graph().alive(id));
}

TEST(RewriteState, AMatchThatIsNotThereChangesNothing) {
  const TableCostFactory costs = LayeredWorld::costs();
  const LayeredWorld world(9);
  RewriteState state(world.graph, world.rules, costs);
  rules::Match wrong;
  wrong.nodes.push_back(0);
  EXPECT_THROW(state.apply(wrong), rules::RuleError);
  EXPECT_THROW(state.peek_latency_us(wrong), rules::RuleError);
  EXPECT_EQ(state.depth(), 0u);
  expect_equals_fresh(state, costs);
}

}  // namespace
}
