#include "core/search/search.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/env/environment.h"
#include "core/env/exhaustive.h"
#include "core/env/layered_world.h"
#include "core/env/synthetic.h"
#include "core/search/all_sites_descent.h"
#include "core/search/beam.h"
#include "core/search/conformance.h"
#include "core/search/greedy.h"
#include "core/search/policy_guided.h"
#include "core/search/portfolio.h"
#include "core/search/restarts.h"
#include "core/search/rollouts.h"
#include "core/search/taso.h"
#include "support/manual_clock.h"

namespace regraft::search {
namespace {

struct World {
  explicit World(const env::SyntheticOptions& options)
      : task(env::make_synthetic_task(options)),
        rules(env::make_synthetic_rules(options.valley)),
        costs(env::make_synthetic_costs(options.rise_us)),
        problem{*task.start, rules, costs} {}

  SearchResult run(Search& search, SearchLimits limits = {1.0, 100'000}, std::uint64_t seed = 1) const {
    const ManualClock clock;
    Rng rng(seed, "search");
    return search.run(problem, limits, rng, {clock});
  }

  env::SyntheticTask task;
  rules::RuleSet rules;
  env::TableCostFactory costs;
  SearchProblem problem;
};

/// Knows the synthetic family: opens where Exp follows two nodes on, unlocks, tidies; else stops. Every other
/// candidate keeps a little.
class ExpertPrior : public Prior {
 public:
  explicit ExpertPrior(std::uint32_t valley) : valley_(valley) {}
  std::string name() const override { return "expert"; }

  std::vector<float> log_probabilities(const env::Observation& seen, History&) override {
    std::vector<double> weights(seen.candidate_count(), 1e-3);
    weights.back() = 1;
    for (std::size_t row = 0; row + 1 < seen.candidate_count(); ++row) {
      const std::uint32_t rule = seen.candidate_rules[row];
      const bool opens =
          rule < valley_ && kind_behind(seen, seen.matched_nodes(row)[0]) == graph::OpKind::exp;
      const bool pays = rule == valley_ || rule == valley_ + 2;
      if (opens || pays) weights[row] = 100;
    }
    double total = 0;
    for (const double weight : weights) total += weight;
    std::vector<float> out;
    for (const double weight : weights) out.push_back(static_cast<float>(std::log(weight / total)));
    return out;
  }

 private:
  static graph::OpKind kind_behind(const env::Observation& seen, std::int32_t row) {
    for (std::size_t edge = 0; edge < seen.edge_count(); ++edge) {
      if (seen.senders[edge] == row) {
        return static_cast<graph::OpKind>(seen.node_kinds[static_cast<std::size_t>(seen.receivers[edge])]);
      }
    }
    return graph::OpKind::opaque;
  }

  std::uint32_t valley_;
};

std::vector<std::unique_ptr<Search>> two(std::unique_ptr<Search> first, std::unique_ptr<Search> second) {
  std::vector<std::unique_ptr<Search>> searches;
  searches.push_back(std::move(first));
  searches.push_back(std::move(second));
  return searches;
}

std::unique_ptr<Search> portfolio_of_greedy_and_random() {
  return make_portfolio(two(make_greedy(), make_random_rollouts()), "both");
}

std::unique_ptr<Search> then_greedy(std::unique_ptr<Search> first) {
  return make_chain(two(std::move(first), make_greedy()), "then greedy");
}

std::vector<std::unique_ptr<Search>> all_searches(Prior& prior) {
  std::vector<std::unique_ptr<Search>> all;
  all.push_back(make_greedy());
  all.push_back(make_all_sites_descent());
  all.push_back(make_restarts());
  all.push_back(make_taso());
  all.push_back(make_beam());
  all.push_back(make_random_rollouts());
  all.push_back(make_rollouts(prior));
  all.push_back(make_policy_guided(prior));
  all.push_back(then_greedy(make_rollouts(prior)));
  return all;
}

/// A network has no answer where there is no node: it is not asked where NO-OP alone is left.
class NeverAsked : public Prior {
 public:
  std::string name() const override { return "never"; }
  std::vector<float> log_probabilities(const env::Observation&, History&) override {
    ADD_FAILURE() << "was asked";
    return {0.0f};
  }
};

TEST(Search, AllConform) {
  ExpertPrior expert(2);
  UniformPrior uniform;
  const std::vector<SearchConformance::Make> all = {
      [] { return make_greedy(); },
      [] { return make_all_sites_descent(); },
      [] { return make_restarts(); },
      [] { return make_restarts({.most_steps = 1}); },
      [] { return make_taso(); },
      [] { return make_taso({.alpha = 2}); },
      [] { return make_beam(); },
      [] { return make_beam({.width = 2, .patience = 3}); },
      [] { return make_random_rollouts(); },
      [] { return then_greedy(make_random_rollouts()); },
      [&] { return make_rollouts(expert); },
      [&] { return make_policy_guided(expert); },
      [&] { return make_policy_guided(uniform, {.breadth = 3}); },
      [] { return portfolio_of_greedy_and_random(); }};
  for (const std::uint64_t seed : {1, 2}) {
    const World world({.chains = 6, .locked = 2, .valley = 2, .seed = seed});
    for (const auto& make : all) check_search(make, world.problem, seed);
    const env::LayeredWorld layered(seed);
    const env::TableCostFactory costs = env::LayeredWorld::costs();
    for (const auto& make : all) check_search(make, {layered.graph, layered.rules, costs}, seed);
  }
}

TEST(Search, AllReturnTheStartWhereNoRuleApplies) {
  const World world({});
  const rules::RuleSet other = rules::RuleSet::parse("none: Floor(Ceil(x)) => Ceil(x)\n", "none.rules");
  const SearchProblem problem{*world.task.start, other, world.costs};
  ExpertPrior expert(1);
  for (const auto& search : all_searches(expert)) {
    const ManualClock clock;
    Rng rng(1, "search");
    const SearchResult result = search->run(problem, {}, rng, {clock});
    EXPECT_TRUE(result.path.empty()) << search->name();
    EXPECT_EQ(result.stopped_by, StoppedBy::exhausted) << search->name();
    EXPECT_EQ(result.candidates_costed, 0u) << search->name();
  }
}

/// Graphs with nothing to do, down to one without a node: outputs that are constants or inputs, one of them
/// twice.
TEST(Search, AllReturnTheStartOfAGraphWithNothingToDo) {
  graph::Tables tables;
  const graph::TypeId type = tables.intern(graph::DType::float32, std::array{graph::Dim{3}});
  const graph::WeightId constant = tables.weights().scalar(graph::DType::float32, 2);
  const auto filled = [&](bool has_input, bool has_constant) {
    graph::Graph graph(tables);
    const graph::Value x = has_input ? graph::Value{graph.add_input(type, 0), 0} : graph::Value{};
    if (has_constant) graph.add_output(graph.weight_value(constant));
    if (has_input) graph.add_output(x);
    if (has_input) graph.add_output(x);
    graph.commit();
    return graph;
  };
  const rules::RuleSet rules = rules::RuleSet::parse("twice: Neg(Neg(x)) => x\n", "twice.rules");
  const env::TableCostFactory costs({});
  NeverAsked prior;
  for (const graph::Graph& start :
       {filled(false, false), filled(false, true), filled(true, false), filled(true, true)}) {
    for (const auto& search : all_searches(prior)) {
      const ManualClock clock;
      Rng rng(1, "search");
      const SearchResult result = search->run({start, rules, costs}, {}, rng, {clock});
      EXPECT_TRUE(result.path.empty()) << search->name();
      EXPECT_EQ(result.stopped_by, StoppedBy::exhausted) << search->name();
    }
  }
}

TEST(Greedy, EndsInTheNearestValley) {
  const World world({.chains = 6, .locked = 2, .seed = 3});
  const SearchResult result = world.run(*make_greedy());
  EXPECT_NEAR(result.best.latency_us, world.task.greedy_us, 1e-9);
  EXPECT_EQ(result.stopped_by, StoppedBy::exhausted);
}

TEST(Taso, WithAWideQueueSeesEveryGraphAndFindsTheOptimum) {
  const World world({.chains = 5, .locked = 1, .valley = 1, .seed = 4});
  const env::Optimum optimum = env::exhaustive_optimum(*world.task.start, world.rules, world.costs, 100'000);
  const SearchResult result = world.run(*make_taso({.alpha = 100}));
  EXPECT_EQ(result.visited, optimum.graphs);
  EXPECT_EQ(result.stopped_by, StoppedBy::exhausted);
  EXPECT_NEAR(result.best.latency_us, optimum.latency_us, 1e-9);
}

TEST(Taso, AlphaPrunesWhatRisesTooFar) {
  // One step uphill is 1.4 of about 31: over 4 %, so alpha 1.02 never leaves the first valley and 1.10 does.
  const World world({.chains = 8, .locked = 1, .valley = 1, .rise_us = 1.4, .seed = 5});
  EXPECT_NEAR(world.run(*make_taso({.alpha = 1.02})).best.latency_us, world.task.greedy_us, 1e-9);
  EXPECT_NEAR(world.run(*make_taso({.alpha = 1.10})).best.latency_us, world.task.optimal_us, 1e-9);
}

TEST(Taso, StopsAtItsBudget) {
  const World world({.chains = 6, .seed = 6});
  const SearchResult result = world.run(*make_taso({.alpha = 100, .budget = 7}));
  EXPECT_EQ(result.expansions, 7u);
  EXPECT_EQ(result.stopped_by, StoppedBy::expansions);
  EXPECT_THROW(make_taso({.alpha = 0.9}), SearchError);
}

TEST(Beam, WideAndPatientSeesEveryGraphAndFindsTheOptimum) {
  const World world({.chains = 5, .locked = 1, .valley = 1, .seed = 4});
  const env::Optimum optimum = env::exhaustive_optimum(*world.task.start, world.rules, world.costs, 100'000);
  const SearchResult result = world.run(*make_beam({.width = 100'000, .patience = 1000}));
  EXPECT_EQ(result.visited, optimum.graphs);
  EXPECT_EQ(result.stopped_by, StoppedBy::exhausted);
  EXPECT_NEAR(result.best.latency_us, optimum.latency_us, 1e-9);
}

TEST(Beam, CrossesAValleyOnlyWithPatience) {
  const World world({.chains = 8, .locked = 1, .valley = 1, .rise_us = 1.4, .seed = 5});
  EXPECT_NEAR(world.run(*make_beam({.width = 1, .patience = 1})).best.latency_us, world.task.greedy_us, 1e-9);
  EXPECT_NEAR(world.run(*make_beam({.width = 64, .patience = 10})).best.latency_us, world.task.optimal_us,
              1e-9);
  EXPECT_THROW(make_beam({.width = 0}), SearchError);
  EXPECT_THROW(make_beam({.patience = 0}), SearchError);
}

TEST(Rollouts, FollowAGoodPriorToTheOptimum) {
  const World world({.chains = 12, .locked = 2, .valley = 2, .seed = 7});
  ExpertPrior expert(2);
  RolloutOptions once;
  once.rollouts = 1;
  const SearchResult result = world.run(*make_rollouts(expert, once));
  EXPECT_NEAR(result.best.latency_us, world.task.optimal_us, 1e-9);
  EXPECT_EQ(result.candidates_costed, world.task.optimal_steps);
  EXPECT_EQ(result.stopped_by, StoppedBy::exhausted);
}

TEST(PolicyGuided, AGoodPriorReachesTheOptimumInFewerCandidatesThanOthers) {
  const World world({.chains = 12, .locked = 1, .valley = 2, .seed = 8});
  ExpertPrior expert(2);
  UniformPrior uniform;
  const auto costed_to_optimum = [&](Search& search) -> std::uint64_t {
    const SearchResult result = world.run(search, {1.0, 3000});
    if (result.best.latency_us > world.task.optimal_us + 1e-9)
      return std::numeric_limits<std::uint64_t>::max();
    return result.improvements.back().candidates_costed;
  };
  const std::uint64_t guided = costed_to_optimum(*make_policy_guided(expert));
  EXPECT_LE(guided, 2 * world.task.optimal_steps);
  EXPECT_LT(guided, costed_to_optimum(*make_policy_guided(uniform)));
  EXPECT_LT(guided, costed_to_optimum(*make_taso()));
  EXPECT_THROW(make_policy_guided(expert, {.breadth = 0}), SearchError);
  EXPECT_THROW(make_policy_guided(expert, {.exploration = 2}), SearchError);
}

TEST(PolicyGuided, GoesOnBehindTheHorizonOfItsPolicysTraining) {
  const World world({.chains = 12, .locked = 1, .valley = 2, .seed = 8});
  constexpr std::uint32_t kHorizon = 3;
  ASSERT_GT(world.task.optimal_steps, 2 * kHorizon);
  ExpertPrior expert(2);
  const SearchResult result =
      world.run(*make_policy_guided(expert, {.observation = {.horizon = kHorizon}}), {1.0, 3000});
  EXPECT_NEAR(result.best.latency_us, world.task.optimal_us, 1e-9);
}

TEST(Portfolio, IsAtLeastAsGoodAsItsPartsAndAddsUpTheirCounters) {
  const World world({.chains = 6, .locked = 1, .seed = 9});
  const SearchResult greedy = world.run(*make_greedy());
  const SearchResult both = world.run(*portfolio_of_greedy_and_random(), {1.0, 400});
  EXPECT_LE(both.best.latency_us, greedy.best.latency_us);
  EXPECT_GT(both.candidates_costed, greedy.candidates_costed);
  EXPECT_LE(both.expansions, 400u);
  EXPECT_THROW(make_portfolio({}, "empty"), SearchError);
}

TEST(Chain, EachSearchGoesOnFromTheBestOfThoseBefore) {
  const World world({.chains = 6, .locked = 1, .seed = 9});
  ASSERT_GE(world.run(*make_greedy()).path.size(), 4u);
  const SearchResult chain = world.run(*make_chain(two(make_greedy(), make_greedy()), "two"), {1.0, 4});
  EXPECT_EQ(chain.expansions, 4u);
  EXPECT_EQ(chain.path.size(), 4u) << "two steps of each";
  EXPECT_EQ(chain.found_by, std::set<std::string>{"greedy"});
  EXPECT_EQ(chain.stopped_by, StoppedBy::expansions);
  const SearchResult long_first =
      world.run(*make_chain(two(make_greedy(), make_restarts()), "two", 0.75), {1.0, 4});
  EXPECT_EQ(long_first.found_by, (std::set<std::string>{"greedy", "restarts"})) << "three steps, and one";
  EXPECT_EQ(long_first.path, chain.path);
  const SearchResult same = world.run(*make_portfolio(two(make_greedy(), make_greedy()), "two"), {1.0, 4});
  EXPECT_EQ(same.path.size(), 2u);
  EXPECT_LT(chain.best.latency_us, same.best.latency_us);
  for (std::size_t i = 1; i < chain.improvements.size(); ++i)
    EXPECT_LT(chain.improvements[i].latency_us, chain.improvements[i - 1].latency_us);
}

/// Answers for fewer candidates than there are.
class ShortPrior : public Prior {
 public:
  std::string name() const override { return "short"; }
  std::vector<float> log_probabilities(const env::Observation&, History&) override { return {0.0f}; }
};

/// Remembers the actions on the way to each graph, and what it saw there.
class PathPrior : public Prior {
 public:
  using Path = std::vector<env::Action>;
  std::string name() const override { return "path"; }
  std::vector<float> log_probabilities(const env::Observation& seen, History& history) override {
    EXPECT_EQ(history.action.has_value(), history.memory != nullptr);
    Path path;
    if (history.memory != nullptr) path = *static_cast<const Path*>(history.memory.get());
    if (history.action) path.push_back(*history.action);
    asked.emplace_back(path, seen.location_counts);
    history.memory = std::make_shared<const Path>(std::move(path));
    History none;
    return uniform_.log_probabilities(seen, none);
  }
  std::vector<std::pair<Path, std::vector<std::uint16_t>>> asked;

 private:
  UniformPrior uniform_;
};

TEST(Prior, WhatItRemembersIsOfTheWayToTheGraphThatItIsAskedAbout) {
  const World world({.chains = 3, .locked = 1, .valley = 1});
  using env::ActionMode;
  for (const auto& [guided, mode] : {std::pair{false, ActionMode::one_site},
                                     {true, ActionMode::one_site},
                                     {false, ActionMode::all_sites},
                                     {true, ActionMode::all_sites}}) {
    SCOPED_TRACE((guided ? "guided, " : "rollouts, ") + std::string(enum_name(mode)));
    PathPrior prior;
    const ObservationOptions observation{.action_mode = mode};
    const auto search =
        guided ? make_policy_guided(prior, {.observation = observation})
               : make_rollouts(prior, {.observation = observation, .greedy_first = true, .rollouts = 20});
    world.run(*search, {1.0, 60});
    std::size_t longest = 0;
    const ManualClock clock;
    env::EnvOptions options;
    options.action_mode = mode;
    env::Environment environment(*world.task.start, world.rules, world.costs, options, clock);
    for (const auto& [path, counts] : prior.asked) {
      environment.reset();
      for (const env::Action& action : path) environment.step(action);
      EXPECT_EQ(environment.observation().location_counts, counts);
      longest = std::max(longest, path.size());
    }
    EXPECT_GT(longest, 2u);
    EXPECT_GT(prior.asked.size(), 10u);
  }
}

TEST(Prior, OfTheWrongSizeIsRefused) {
  const World world({});
  ShortPrior prior;
  EXPECT_THROW(world.run(*make_rollouts(prior)), SearchError);
  EXPECT_THROW(world.run(*make_policy_guided(prior)), SearchError);
}

}  // namespace
}
