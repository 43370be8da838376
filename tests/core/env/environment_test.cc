#include "core/env/environment.h"

#include "core/env/conformance.h"
#include "core/env/layered_world.h"
#include "core/env/synthetic.h"
#include "support/manual_clock.h"

namespace regraft::env {
namespace {

struct SyntheticWorld {
  explicit SyntheticWorld(const SyntheticOptions& options)
      : task(make_synthetic_task(options)),
        rules(make_synthetic_rules(options.valley)),
        costs(make_synthetic_costs(options.rise_us)) {}

  Environment make(EnvOptions options = {}) {
    return Environment(*task.start, rules, costs, std::move(options), clock);
  }

  SyntheticTask task;
  rules::RuleSet rules;
  TableCostFactory costs;
  ManualClock clock;
};

/// Measures what the table of costs says, and counts.
class TableMeter : public LatencyMeter {
 public:
  explicit TableMeter(const cost::CostFactory& costs) : costs_(costs) {}
  double latency_us(const graph::Graph& graph) override {
    ++measured;
    return costs_.make(graph)->cost().latency_us;
  }
  int measured = 0;

 private:
  const cost::CostFactory& costs_;
};

TEST(Environment, ConformsOnTheSyntheticFamily) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    SyntheticWorld world({.chains = 7, .locked = 2, .valley = 2, .seed = seed});
    TableMeter meter(world.costs);
    for (const RewardKind reward : {RewardKind::incremental, RewardKind::terminal, RewardKind::best,
                                    RewardKind::detailed, RewardKind::measured}) {
      for (const auto& [limit, mode] : {std::pair{200u, ActionMode::one_site},
                                        {3u, ActionMode::one_site},
                                        {200u, ActionMode::all_sites},
                                        {3u, ActionMode::all_sites}}) {
        EnvOptions options;
        options.horizon = 12;
        options.reward = reward;
        options.reward_settings = {.measure_every = limit == 3 ? 5u : 0u, .meter = &meter};
        options.location_limit = limit;
        options.action_mode = mode;
        check_environment([&](EnvOptions given) { return world.make(std::move(given)); }, world.costs,
                          options, seed);
      }
    }
  }
}

TEST(Environment, ConformsWhereMatchesOverlapAndComeBack) {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    LayeredWorld world(seed);
    const TableCostFactory costs = LayeredWorld::costs();
    const ManualClock clock;
    EnvOptions options;
    options.horizon = 25;
    options.horizon_mode = HorizonMode::truncate;
    const auto make = [&](EnvOptions given) {
      return Environment(world.graph, world.rules, costs, std::move(given), clock);
    };
    for (const ActionMode mode : {ActionMode::one_site, ActionMode::all_sites}) {
      options.action_mode = mode;
      check_environment(make, costs, options, seed);
    }
  }
}

TEST(Environment, IncrementalRewardIsTheRelativeGainOfTheStep) {
  SyntheticWorld world({.chains = 3, .valley = 1, .rise_us = 1.0});
  Environment env = world.make();
  env.reset();
  const StepResult opened = env.step({0, 0});
  EXPECT_EQ(opened.info.rule, "open-1");
  EXPECT_NEAR(opened.reward, -1.0 / world.task.initial_us, 1e-15);
  EXPECT_NEAR(opened.info.after.latency_us, opened.info.before.latency_us + 1.0, 1e-12);
}

TEST(Environment, TerminalRewardIsPaidOnceAndNotWhereTheHorizonTruncates) {
  SyntheticWorld world({.chains = 3, .valley = 1, .rise_us = 1.0});
  EnvOptions options;
  options.reward = RewardKind::terminal;
  options.horizon = 2;
  Environment paid = world.make(options);
  EXPECT_EQ(paid.step({0, 0}).reward, 0.0);
  EXPECT_NEAR(paid.step({0, 0}).reward, -2.0 / world.task.initial_us, 1e-15);
  options.horizon_mode = HorizonMode::truncate;
  Environment cut = world.make(options);
  cut.step({0, 0});
  const StepResult last = cut.step({0, 0});
  EXPECT_TRUE(last.truncated);
  EXPECT_EQ(last.reward, 0.0);
}

TEST(Environment, MeasuredRewardIsThatOfTheMeterEveryKStepsAndAtTheEnd) {
  SyntheticWorld world({.chains = 4, .locked = 1, .valley = 1, .rise_us = 1.0});
  TableMeter meter(world.costs);
  EnvOptions options;
  options.horizon = 3;
  options.reward = RewardKind::measured;
  options.reward_settings = {.measure_every = 2, .meter = &meter};
  Environment env = world.make(options);
  EXPECT_EQ(meter.measured, 1) << "the initial graph";
  EXPECT_EQ(env.step({0, 0}).reward, 0);
  EXPECT_EQ(meter.measured, 1);
  EXPECT_NEAR(env.step({0, 0}).reward, -2 / world.task.initial_us, 1e-15);
  const StepResult last = env.step({0, 0});
  EXPECT_TRUE(last.terminated);
  EXPECT_NEAR(last.reward, -1 / world.task.initial_us, 1e-15);
  EXPECT_EQ(meter.measured, 3);
  env.reset();
  EXPECT_EQ(meter.measured, 4) << "the initial graph again";
  EXPECT_EQ(env.step({env.noop(), 0}).reward, 0);
  EXPECT_EQ(meter.measured, 4) << "the same graph in the same episode";
  options.reward_settings.measure_every = 0;
  Environment at_end = world.make(options);
  EXPECT_EQ(at_end.step({0, 0}).reward + at_end.step({0, 0}).reward, 0);
  EXPECT_NEAR(at_end.step({0, 0}).reward, -3 / world.task.initial_us, 1e-15);
  options.reward_settings.meter = nullptr;
  EXPECT_THROW(world.make(options), EnvError);
}

TEST(Environment, EndsWhereNoRuleIsLegal) {
  SyntheticWorld world({.chains = 2, .valley = 1, .seed = 4});
  Environment env = world.make();
  Rng rng(4, "walk");
  StepResult last;
  while (!env.done()) last = env.step_candidate(EnvironmentConformance::random_candidate(env, rng));
  EXPECT_TRUE(last.terminated);
  EXPECT_LT(env.steps(), env.options().horizon);
  EXPECT_EQ(env.observation().candidate_count(), 1u);
  for (std::uint32_t rule = 0; rule < env.noop(); ++rule)
    EXPECT_EQ(env.observation().location_counts[rule], 0u);
}

TEST(Environment, RemembersTheBestGraphPassedOnTheWay) {
  SyntheticWorld world({.chains = 4, .valley = 1, .seed = 5});
  Environment env = world.make();
  const std::uint32_t bait = 2, open = 0;
  ASSERT_EQ(env.rules().info(bait).name, "bait");
  env.step({bait, 0});
  const double baited_us = env.cost().latency_us;
  env.step({open, 0});
  EXPECT_GT(env.cost().latency_us, baited_us);
  EXPECT_EQ(env.best().cost.latency_us, baited_us);
  ASSERT_EQ(env.best().path.size(), 1u);
  EXPECT_EQ(env.best().path[0].rule, bait);
  EXPECT_EQ(env.present().path.size(), 2u);
}

TEST(Environment, RefusesOptionsOutOfRange) {
  SyntheticWorld world({});
  EnvOptions no_steps, no_locations, negative, one_location;
  no_steps.horizon = 0;
  no_locations.location_limit = 0;
  negative.invalid_penalty = -1;
  one_location.location_limit = 1;
  EXPECT_NO_THROW(world.make(one_location));
  one_location.action_mode = ActionMode::all_sites;
  EXPECT_THROW(world.make(one_location), EnvError);
  EXPECT_THROW(world.make(no_steps), EnvError);
  EXPECT_THROW(world.make(no_locations), EnvError);
  EXPECT_THROW(world.make(negative), EnvError);
}

/// Each reading is one second after the last.
class TickingClock : public Clock {
 public:
  std::int64_t steady_ns() const override { return nanoseconds_per_second * readings_++; }
  std::int64_t wall_ns() const override { return 0; }

 private:
  mutable std::int64_t readings_ = 0;
};

TEST(Environment, TellsWhereTheTimeWent) {
  SyntheticWorld world({});
  const TickingClock clock;
  Environment env(*world.task.start, world.rules, world.costs, {}, clock);
  const StepSeconds seconds = env.step({0, 0}).info.seconds;
  EXPECT_EQ(seconds.apply, 1.0);
  EXPECT_EQ(seconds.cost, 1.0);
  EXPECT_EQ(seconds.match, 1.0);
  EXPECT_EQ(seconds.observe, 1.0);
}

}  // namespace
}
