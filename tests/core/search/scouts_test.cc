#include "core/search/scouts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <latch>
#include <set>
#include <stdexcept>
#include <system_error>

#include "core/base/mutex.h"
#include "core/env/table_cost_factory.h"
#include "core/rules/graph_builder.h"
#include "support/manual_clock.h"

namespace regraft::search {
namespace {

using graph::OpKind;

/// A Relu that rules make a Tanh or an Exp.
class ScoutsTest : public ::testing::Test {
 protected:
  static constexpr std::size_t kThreads = 3;

  struct OneRelu : rules::testing::GraphBuilder {
    OneRelu() { output(op(OpKind::relu, {input({4})})); }
  };

  static env::TableCostFactory prices() {
    env::TableCostFactory::Table table{};
    table[static_cast<std::size_t>(OpKind::relu)] = 2;
    table[static_cast<std::size_t>(OpKind::tanh)] = 1;
    return env::TableCostFactory(table);
  }
  static void take(SearchRun& run, env::RewriteState& state, std::uint32_t rule) {
    const rules::Match match = state.index().matches(rule)[0];
    ASSERT_TRUE(run.try_move([&] { state.apply(match); }));
    run.offer(state.cost_model(), state.path());
  }

  OneRelu b;
  rules::RuleSet rules =
      rules::RuleSet::parse("tanh: Relu(x) => Tanh(x)\nexp: Relu(x) => Exp(x)\n", "scouts.rules");
  env::TableCostFactory costs = prices();
  SearchProblem problem{b.graph(), rules, costs};
  ManualClock clock;
  std::stop_source stop;
  SearchContext context{clock, {}, stop.get_token(), kThreads};
  env::RewriteState state{b.graph(), rules, costs};
  SearchRun run{"scouts", {}, context, state};
};

TEST_F(ScoutsTest, TheFirstSuccessCountsHoweverLateItComes) {
  Scouts scouts(problem, context);
  std::latch later_ones(kThreads - 1);
  EXPECT_TRUE(
      scouts.any_of(run, state, kThreads, [&](SearchRun& part, env::RewriteState& own, std::size_t at) {
        at == 0 ? later_ones.wait() : later_ones.count_down();
        take(part, own, at == 0 ? 0 : 1);
        return true;
      }));
  ASSERT_EQ(state.path().size(), 1u);
  EXPECT_EQ(state.path()[0].rule, 0u);
  EXPECT_EQ(state.cost().latency_us, 1);
  const SearchResult found = run.finish();
  EXPECT_EQ(found.path, std::vector<rules::Match>(state.path().begin(), state.path().end()));
  EXPECT_EQ(found.candidates_costed, 1u) << "what was begun behind it does not count";
}

TEST_F(ScoutsTest, WhereNoneSucceedsAllCountAndTheStateStays) {
  Scouts scouts(problem, context);
  constexpr std::size_t kTries = 50;
  for (int again = 0; again < 2; ++again)
    EXPECT_FALSE(scouts.any_of(run, state, kTries, [&](SearchRun& part, env::RewriteState& own, std::size_t) {
      take(part, own, 1);
      own.rewind_to(0);
      return false;
    }));
  EXPECT_EQ(state.depth(), 0u);
  EXPECT_EQ(run.finish().candidates_costed, 2 * kTries);
}

TEST_F(ScoutsTest, GoesOnWithTheThreadsThatTheSystemGives) {
  for (const std::size_t given : {0u, 1u, 2u}) {
    std::size_t started = 0, refused = 0;
    Scouts scouts(problem, context, [&](std::function<void()> work) {
      if (started == given) {
        ++refused;
        throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
      }
      ++started;
      return std::jthread(std::move(work));
    });
    std::set<std::thread::id> on;
    Mutex mutex;
    EXPECT_TRUE(scouts.any_of(run, state, 9, [&](SearchRun& part, env::RewriteState& own, std::size_t at) {
      {
        const MutexLock lock(mutex);
        on.insert(std::this_thread::get_id());
      }
      take(part, own, 0);
      if (at < 8) own.rewind_to(0);
      return at == 8;
    })) << given;
    EXPECT_EQ(refused, 1u) << given;
    EXPECT_LE(on.size(), std::max<std::size_t>(given, 1));
    EXPECT_EQ(on.contains(std::this_thread::get_id()), given == 0);
    EXPECT_EQ(state.path().size(), 1u);
    state.rewind_to(0);
  }
  EXPECT_EQ(run.finish().candidates_costed, 3 * 9u);
}

TEST_F(ScoutsTest, WhatATryThrowsIsThrownInItsTurn) {
  for (const bool succeeds_before : {false, true}) {
    Scouts scouts(problem, context);
    const auto all = [&] {
      return scouts.any_of(run, state, 9, [&](SearchRun&, env::RewriteState&, std::size_t at) -> bool {
        if (at == 3) throw std::runtime_error("the third");
        return at == 2 && succeeds_before;
      });
    };
    if (succeeds_before)
      EXPECT_TRUE(all());
    else
      EXPECT_THROW(all(), std::runtime_error);
  }
}

TEST_F(ScoutsTest, AreCalledBackWhenTheSearchIsStopped) {
  Scouts scouts(problem, context);
  EXPECT_FALSE(scouts.any_of(run, state, 1000, [&](SearchRun& part, env::RewriteState&, std::size_t at) {
    if (at == kThreads) stop.request_stop();
    while (at >= kThreads && part.goes_on()) {
    }
    return false;
  }));
  EXPECT_EQ(run.finish().stopped_by, StoppedBy::cancelled);
}

}  // namespace
}
