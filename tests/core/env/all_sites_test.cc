#include "core/env/all_sites.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "core/env/conformance.h"
#include "core/env/layered_world.h"
#include "core/env/table_cost_factory.h"
#include "core/graph/order.h"
#include "core/graph/reference_order.h"
#include "core/rules/lang/rule_error.h"
#include "support/manual_clock.h"
#include "support/model_world.h"
#include "support/validate.h"

namespace regraft::env {
namespace {

using graph::OpKind;

/// What one rule at all of its sites comes to, made from copies of graphs that are matched and costed afresh.
std::vector<rules::Match> reference_of_one(const graph::Graph& start, const rules::RuleSet& rules,
                                           const cost::CostFactory& costs, std::uint32_t rule) {
  std::vector<graph::Graph> way{start};
  std::vector<rules::Match> path, spent;
  for (std::size_t applied = 0; applied < kMostRewritesAtAllSites; ++applied) {
    const rules::MatchIndex index(rules, way.back());
    std::vector<rules::Match> left(index.matches(rule).begin(), index.matches(rule).end());
    std::erase_if(left, [&](const rules::Match& match) {
      const auto made_here = [&](graph::NodeId id) { return id >= start.id_bound(); };
      return std::ranges::count(spent, match) > 0 || std::ranges::all_of(match.nodes, made_here);
    });
    std::ranges::stable_sort(left, std::greater<>(),
                             [](const rules::Match& match) { return match.nodes.size(); });
    if (left.empty()) break;
    graph::Graph next = way.back();
    rules::apply(next, rules, left.front());
    next.commit();
    if (std::ranges::any_of(way, [&](const graph::Graph& known) {
          return graph::structural_hash(known) == graph::structural_hash(next);
        })) {
      spent.push_back(left.front());
    } else {
      way.push_back(std::move(next));
      path.push_back(left.front());
    }
  }
  std::size_t least = 0;
  for (std::size_t i = 1; i < way.size(); ++i)
    if (cheaper(costs.make(way[i])->cost(), costs.make(way[least])->cost())) least = i;
  if (least > 0) path.resize(least);
  return path;
}

/// What apply_at_all_sites() keeps: the slow and obvious reference.
std::vector<rules::Match> reference(const graph::Graph& start, const rules::RuleSet& rules,
                                    const cost::CostFactory& costs, std::uint32_t rule) {
  const auto family = rules.together_with(rule);
  if (family.size() == 1) return reference_of_one(start, rules, costs, rule);
  std::vector<rules::Match> path;
  for (bool changes = true; changes;) {
    changes = false;
    for (const std::uint32_t member : family) {
      const auto more = reference_of_one(replay(start, rules, path), rules, costs, member);
      changes = changes || !more.empty();
      path.insert(path.end(), more.begin(), more.end());
    }
  }
  return path;
}

/// Chains, each an input of its own: Add(x, Erf(y)) -> Relu, all summed; the Erf is shared. With `twice`, y
/// is another Erf, and an output; with `products`, each x is one; with `twins`, both operands of an Add are a
/// Tanh of the same input.
enum class Form { plain, twice, products, twins };
struct Sites {
  explicit Sites(const char* text, std::uint32_t sites = 5, Form form = Form::plain)
      : graph(tables), rules(rules::RuleSet::parse(text, "sites.rules")) {
    const graph::TypeId type = tables.intern(graph::DType::float32, std::array<graph::Dim, 2>{3, 8});
    graph::Value shared = op(OpKind::erf, {{graph.add_input(type, 0), 0}});
    if (form == Form::twice) {
      graph.add_output(shared);
      shared = op(OpKind::erf, {shared});
    }
    std::vector<graph::Value> ends;
    for (std::uint32_t i = 1; i <= sites; ++i) {
      graph::Value own{graph.add_input(type, i), 0};
      if (form == Form::products) own = op(OpKind::mul, {own, {graph.add_input(type, sites + i), 0}});
      if (form == Form::twins) shared = op(OpKind::tanh, {own});
      if (form == Form::twins) own = op(OpKind::tanh, {own});
      ends.push_back(op(OpKind::relu, {op(OpKind::add, {own, shared})}));
    }
    graph.add_output(op(OpKind::sum, ends));
    graph::validate(graph);
    graph.commit();
    TableCostFactory::Table table{};
    table[static_cast<std::size_t>(OpKind::erf)] = 10;
    for (const OpKind kind : {OpKind::tanh, OpKind::relu}) table[static_cast<std::size_t>(kind)] = 1;
    table[static_cast<std::size_t>(OpKind::exp)] = 2;
    costs = TableCostFactory(table);
  }

  graph::Value op(OpKind kind, const std::vector<graph::Value>& inputs) {
    return {graph.add(kind, tables.intern(graph::AttrBlock{}), inputs), 0};
  }
  Environment make(EnvOptions options = {}) const {
    options.action_mode = ActionMode::all_sites;
    return Environment(graph, rules, costs, options, clock);
  }

  graph::Tables tables;
  graph::Graph graph;
  rules::RuleSet rules;
  TableCostFactory costs{TableCostFactory::Table{}};
  ManualClock clock;
};

/// The action of a rule at all of its sites.
Action all_of(const Environment& env, std::uint32_t rule) {
  EXPECT_EQ(env.observation().has_all_sites(rule), env.observation().location_counts[rule] > 1);
  return {rule, 0};
}

// Each site alone adds a Tanh and frees nothing: the Erf goes with the last of them.
constexpr char kLeaveShared[] = "leave: Add(x, Erf(y)) => Add(Tanh(x), y)\n";

TEST(AllSites, OneStepTakesWhatPaysOnlyAtTheLastSite) {
  const Sites sites(kLeaveShared);
  Environment env = sites.make({.horizon = 7});
  ASSERT_EQ(env.observation().location_counts[0], 6u) << "five sites, and all of them";
  EXPECT_TRUE(env.observation().stands_for_all(0, 0));
  EXPECT_FALSE(env.observation().stands_for_all(0, 5));
  EXPECT_EQ(env.peek_latency_us({0, 0}), 10.0);
  const StepResult result = env.step({0, 0});
  EXPECT_NEAR(result.reward, 5.0 / 15.0, 1e-12);
  EXPECT_EQ(result.info.rule, "leave");
  EXPECT_EQ(result.info.rewrites, 5u);
  EXPECT_EQ(env.steps(), 1u);
  EXPECT_EQ(env.present().path.size(), 5u) << "plain matches";
  EXPECT_EQ(env.best().path.size(), 5u);
  EXPECT_EQ(graph::structural_hash(replay(sites.graph, sites.rules, env.present().path)),
            graph::structural_hash(env.graph()));
}

// Location 0 is all there is, whether there is one site or more.
TEST(AllSites, OneSiteHasNoSecondLocationForAll) {
  const Sites sites(kLeaveShared, 1);
  const Environment env = sites.make();
  EXPECT_EQ(env.observation().location_counts[0], 1u);
  EXPECT_FALSE(env.observation().stands_for_all(0, 0));
}

TEST(AllSites, TheLocationOfAllSitesIsWithinTheLimit) {
  const Sites sites(kLeaveShared);
  Environment env = sites.make({.location_limit = 3});
  EXPECT_EQ(env.observation().location_counts[0], 3u);
  EXPECT_EQ(env.observation().truncated_locations, 3u);
  EXPECT_EQ(env.observation().matched_nodes(0).size(), 6u) << "five Adds and the Erf, cut off or not";
  EXPECT_EQ(env.step({0, 0}).info.rewrites, 5u);
}

TEST(AllSites, EndsAtTheLastGraphWhereNoneOnTheWayIsCheaper) {
  const Sites sites("rise: Relu(x) => Exp(x)\n");
  Environment env = sites.make();
  EXPECT_NEAR(env.step(all_of(env, 0)).reward, -5.0 / 15.0, 1e-12);
  EXPECT_EQ(env.present().path.size(), 5u);
  EXPECT_TRUE(env.best().path.empty());
}

// The outer of two Erfs goes with the last site; the inner one is an output and stays, so that the same rule
// goes on at a loss.
TEST(AllSites, EndsAtTheCheapestGraphOnTheWay) {
  const Sites sites(kLeaveShared, 4, Form::twice);
  Environment env = sites.make();
  ASSERT_EQ(env.initial_cost().latency_us, 24.0);
  const StepResult result = env.step(all_of(env, 0));
  EXPECT_EQ(result.info.rewrites, 8u) << "two at each site";
  EXPECT_LT(env.present().path.size(), 8u);
  EXPECT_LT(env.cost().latency_us, 24.0 + 8 - 10) << "where it would stand after all";
  EXPECT_EQ(env.best().cost.latency_us, env.cost().latency_us);
}

std::size_t apply_all(RewriteState& state, std::uint32_t rule) {
  return apply_at_all_sites(state, rule,
                            [&](const rules::Match& match) { return state.apply(match), Applied::yes; });
}

TEST(AllSites, ARuleThatUndoesItselfIsCarriedOutOnceAtEachSite) {
  const Sites sites("there: Relu(Add(x, y)) => Relu(Add(y, x))\n");
  RewriteState state(sites.graph, sites.rules, sites.costs);
  ASSERT_EQ(state.index().matches(0).size(), 5u);
  EXPECT_EQ(apply_all(state, 0), 5u);
  EXPECT_EQ(state.depth(), 5u);
  EXPECT_EQ(state.index().matches(0).size(), 5u) << "of what the move has made";
  for (const graph::NodeId id : graph::testing::canonical_order(state.graph()))
    if (state.graph().node(id).kind == OpKind::add) {
      EXPECT_EQ(state.graph().node(state.graph().node(id).inputs[0].node).kind, OpKind::erf);
    }
}

constexpr char kFamily[] =
    "[class, together]\nrise: Relu(x) => Exp(x)\nrise-on: Exp(x) => Sigmoid(Tanh(x))\nfall: Sigmoid(Tanh(x)) "
    "=> Tanh(x)\n";

TEST(AllSites, AFamilyThatIsTakenTogetherIsOneStepOfAnyOfItsRules) {
  const Sites sites(kFamily);
  Environment env = sites.make();
  const auto expected = reference(sites.graph, sites.rules, sites.costs, 0);
  EXPECT_EQ(expected.size(), 15u) << "three rules, five sites";
  ASSERT_EQ(env.step(all_of(env, 0)).info.rewrites, 15u);
  EXPECT_EQ(std::vector<rules::Match>(env.present().path.begin(), env.present().path.end()), expected);
  EXPECT_EQ(env.steps(), 1u);
  RewriteState state(sites.graph, sites.rules, sites.costs);
  for (const std::uint32_t member : {1, 2}) {
    EXPECT_EQ(apply_all(state, member), 15u);
    state.rewind_to(0);
  }
}

TEST(AllSites, AFamilyThatLeadsBackChangesNothing) {
  const Sites sites("[class, together]\nthere: Relu(x) => Exp(x)\nback: Exp(x) => Relu(x)\n");
  RewriteState state(sites.graph, sites.rules, sites.costs);
  EXPECT_EQ(apply_all(state, 0), 10u);
  EXPECT_EQ(state.depth(), 0u);
}

TEST(AllSites, AFamilyThatGrowsForEverIsEnded) {
  const Sites sites("[class, together]\ngrow: Relu(x) => Relu(Abs(x))\nmore: Abs(x) => Abs(Neg(x))\n");
  RewriteState state(sites.graph, sites.rules, sites.costs);
  EXPECT_EQ(apply_all(state, 0), 8 * kMostRewritesAtAllSites);
}

TEST(AllSites, AFamilyThatIsStoppedIsUndone) {
  const Sites sites(kFamily);
  RewriteState state(sites.graph, sites.rules, sites.costs);
  int left = 7;
  EXPECT_EQ(apply_at_all_sites(state, 0,
                               [&](const rules::Match& match) {
                                 return left-- > 0 ? (state.apply(match), Applied::yes) : Applied::stopped;
                               }),
            7u);
  EXPECT_EQ(state.depth(), 0u);
  EXPECT_EQ(graph::structural_hash(state.graph()), graph::structural_hash(sites.graph));
}

// The Erf that all share is an old node in every match.
TEST(AllSites, ARewriteThatLeadsBackIsTakenBack) {
  const Sites sites("turn: Add(Mul(x, z), Erf(y)) => Add(Mul(z, x), Erf(y))\n", 5, Form::products);
  RewriteState state(sites.graph, sites.rules, sites.costs);
  const std::size_t applied = apply_all(state, 0);
  EXPECT_GE(state.depth(), 5u) << "each site, and on from there while no graph comes again";
  EXPECT_GT(applied, state.depth()) << "with those that were taken back";
  std::set<std::string> graphs{graph::structural_hash(sites.graph).hex()};
  for (std::size_t depth = state.depth(); depth > 0; state.rewind_to(--depth))
    EXPECT_TRUE(graphs.insert(graph::structural_hash(state.graph()).hex()).second) << "after " << depth;
}

// Each rewrite exchanges two nodes that compute the same.
TEST(AllSites, WhereEverySiteLeadsBackThereIsNothingToPeekAtAndTheStepIsRefused) {
  const Sites sites("turn: Add(x, y) => Add(y, x)\n", 3, Form::twins);
  Environment env = sites.make();
  const Observation before = env.observation();
  const Action all = all_of(env, 0);
  ASSERT_GT(before.location_counts[0], 1u);
  try {
    env.peek_latency_us(all);
    FAIL() << "peeked at";
  } catch (const rules::RuleError& error) {
    EXPECT_EQ(error.where(), "turn");
    EXPECT_EQ(error.problem(), "only leads back to this graph");
  }
  EXPECT_EQ(graph::structural_hash(env.graph()), graph::structural_hash(sites.graph));
  EXPECT_EQ(env.step(all).info.invalid, Invalid::refused);
  EXPECT_EQ(graph::structural_hash(env.graph()), graph::structural_hash(sites.graph));
  EXPECT_TRUE(env.present().path.empty());
}

TEST(AllSites, ARuleThatGrowsWithoutEndIsCarriedOutOnceAtEachSite) {
  const Sites sites("grow: Relu(x) => Relu(Abs(x))\n");
  Environment env = sites.make({.horizon = 3});
  const Observation first = env.observation();
  EXPECT_EQ(env.step(all_of(env, 0)).info.rewrites, 5u);
  EXPECT_EQ(env.observation().location_counts[0], 6u) << "there is more to do in the next step";
  EXPECT_NO_THROW(graph::validate(env.graph()));
  EXPECT_TRUE(env.reset() == first);
}

TEST(AllSites, ARuleThatGrowsOnOldNodesIsStopped) {
  const Sites sites("grow: Add(x, Erf(y)) => Add(Abs(x), Erf(y))\n");
  RewriteState state(sites.graph, sites.rules, sites.costs);
  EXPECT_EQ(apply_all(state, 0), kMostRewritesAtAllSites);
  EXPECT_NO_THROW(graph::validate(state.graph()));
}

TEST(AllSites, AMatchThatIsRefusedIsNotTriedAgain) {
  const Sites sites(kLeaveShared);
  RewriteState state(sites.graph, sites.rules, sites.costs);
  std::vector<rules::Match> asked;
  const auto refuse = [&](const rules::Match& match) { return asked.push_back(match), Applied::refused; };
  EXPECT_EQ(apply_at_all_sites(state, 0, refuse), 0u);
  EXPECT_EQ(asked.size(), 5u);
  EXPECT_EQ(state.depth(), 0u);
  EXPECT_EQ(graph::structural_hash(state.graph()), graph::structural_hash(sites.graph));
}

TEST(AllSites, AMoveThatIsStoppedIsUndone) {
  const Sites sites(kLeaveShared);
  RewriteState state(sites.graph, sites.rules, sites.costs);
  int left = 3;
  const std::size_t applied = apply_at_all_sites(state, 0, [&](const rules::Match& match) {
    return left-- > 0 ? (state.apply(match), Applied::yes) : Applied::stopped;
  });
  EXPECT_EQ(applied, 3u);
  EXPECT_EQ(left, -1) << "nothing is asked after the stop";
  EXPECT_EQ(state.depth(), 0u);
  EXPECT_EQ(graph::structural_hash(state.graph()), graph::structural_hash(sites.graph));
}

/// Walks through an environment; every rule at all of its sites, where it is offered, must come to what the
/// reference keeps.
void compare_with_reference(Environment& env, const cost::CostFactory& costs, std::uint64_t seed) {
  Rng rng(seed, "all sites");
  env.reset(seed);
  std::size_t compared = 0;
  while (!env.done()) {
    const graph::Graph before = env.graph();
    const std::size_t depth = env.present().path.size();
    for (std::uint32_t rule = 0; rule < env.noop(); ++rule) {
      const Action action = all_of(env, rule);
      if (env.observation().location_counts[rule] < 2) continue;
      SCOPED_TRACE(env.rules().info(rule).name);
      const std::vector<rules::Match> expected = reference(before, env.rules(), costs, rule);
      Environment twin = env.clone();
      const StepResult result = twin.step(action);
      ASSERT_EQ(result.info.invalid, Invalid::none);
      const auto path = twin.present().path.subspan(depth);
      ASSERT_EQ(std::vector<rules::Match>(path.begin(), path.end()), expected);
      ASSERT_EQ(graph::structural_hash(replay(before, env.rules(), expected)),
                graph::structural_hash(twin.graph()));
      ASSERT_EQ(env.peek_latency_us(action), twin.cost().latency_us);
      ASSERT_EQ(graph::structural_hash(env.graph()), graph::structural_hash(before));
      ++compared;
    }
    env.step_candidate(EnvironmentConformance::random_candidate(env, rng));
  }
  EXPECT_GT(compared, 0u);
}

TEST(AllSites, EqualsTheReferenceWhereMatchesOverlapAndComeBack) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const LayeredWorld world(seed);
    const TableCostFactory costs = LayeredWorld::costs();
    const ManualClock clock;
    EnvOptions options{.horizon = 5};
    options.action_mode = ActionMode::all_sites;
    Environment env(world.graph, world.rules, costs, options, clock);
    compare_with_reference(env, costs, seed);
  }
}

TEST(AllSites, EqualsTheReferenceOnNasRnn) {
  const testing::ModelWorld world("nasrnn");
  EnvOptions options{.horizon = 12};
  options.action_mode = ActionMode::all_sites;
  Environment env = world.make(options);
  compare_with_reference(env, world.costs, 1);
}

}  // namespace
}
