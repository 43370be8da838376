#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "core/base/rng.h"
#include "core/env/environment.h"
#include "core/env/episode_conformance.h"
#include "core/graph/order.h"
#include "support/validate.h"

namespace regraft::env {

/// A real environment as the suite for all episodes sees it.
class RealWorld : public EpisodeWorld {
 public:
  explicit RealWorld(Environment env) : env_(std::move(env)) {}
  void reset(std::uint64_t seed) override { env_.reset(seed); }
  Outcome step(Action action) override {
    const StepResult result = env_.step(action);
    EXPECT_EQ(result.info.rule.empty(), result.info.invalid != Invalid::none);
    EXPECT_EQ(result.info.rule == "NO-OP",
              action.rule == env_.noop() && result.info.invalid == Invalid::none);
    if (result.truncated) {
      EXPECT_EQ(env_.observation().globals[1], 1.0f) << "the step fraction is observed";
    }
    return {result.reward, result.terminated, result.truncated, result.info.invalid};
  }
  bool done() const override { return env_.done(); }
  std::uint32_t steps() const override { return env_.steps(); }
  std::uint32_t noop() const override { return env_.noop(); }
  std::vector<std::uint16_t> counts() const override { return env_.observation().location_counts; }
  std::string fingerprint() const override {
    const auto floats = [](const std::vector<float>& values) {
      return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    };
    const Observation& seen = env_.observation();
    return graph::structural_hash(env_.graph()).hex() + std::to_string(env_.present().path.size()) +
           floats(seen.node_features) + floats(seen.edge_features);
  }

 private:
  Environment env_;
};

/// What every environment must do, whatever its graph, rules, costs and rewards. check_environment() runs it
/// all on environments that `make` gives; a new reward or cost is tested by one more call.
class EnvironmentConformance {
 public:
  using Make = std::function<Environment(EnvOptions)>;

  EnvironmentConformance(Make make, const cost::CostFactory& costs, EnvOptions options)
      : make_(std::move(make)), costs_(costs), options_(std::move(options)) {}

  void check(std::uint64_t seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    episodes().check(seed);
    masks_equal_a_fresh_match(seed);
    offered_actions_can_be_taken(seed);
    rewards_add_up(seed);
    reset_equals_fresh(seed);
    best_graph_replays(seed);
    clones_and_peeks_do_not_interfere(seed);
  }

  void equal_actions_give_equal_episodes(std::uint64_t seed) const {
    episodes().equal_actions_give_equal_episodes(seed);
  }

  /// A candidate of the present observation other than NO-OP, which is taken only where nothing else is
  /// legal.
  static std::size_t random_candidate(const Environment& env, Rng& rng) {
    const std::size_t legal = env.observation().candidate_count() - 1;
    return legal == 0 ? 0 : rng.below(legal);
  }

  /// The observation of the present state, made from nothing but a copy of its graph.
  Observation fresh_observation(const Environment& env) const {
    RewriteState state(env.graph(), env.rules(), costs_);
    ObservationWriter writer(env.graph().tables(), env.options().bindings);
    Observation out;
    writer.write(state,
                 {env.initial_cost(), env.steps(), env.options().horizon, env.options().location_limit,
                  env.options().action_mode},
                 out);
    return out;
  }

  void masks_equal_a_fresh_match(std::uint64_t seed) const {
    Environment env = make_(options_);
    Rng rng(seed, "masks");
    env.reset(seed);
    for (int step = 0;; ++step) {
      SCOPED_TRACE("step " + std::to_string(step));
      graph::validate(env.graph());
      compare_with_fresh_match(env);
      ASSERT_TRUE(env.observation() == fresh_observation(env));
      if (env.done()) break;
      env.step_candidate(random_candidate(env, rng));
    }
  }

  /// Masks equal legality: what is offered can be done, leaves a valid graph and costs what the peek said;
  /// what lies just behind the prefix of a rule is refused (EpisodeConformance).
  void offered_actions_can_be_taken(std::uint64_t seed) const {
    constexpr std::size_t kMost = 40;  // candidates of a state
    Environment env = make_(options_);
    Rng rng(seed, "offered");
    env.reset(seed);
    while (!env.done()) {
      const std::size_t legal = env.observation().candidate_count() - 1;
      const std::size_t stride = std::max<std::size_t>(1, legal / kMost);
      const Hash128 hash = graph::structural_hash(env.graph());
      for (std::size_t row = rng.below(stride); row < legal; row += stride) {
        const Action action{env.observation().candidate_rules[row],
                            env.observation().candidate_locations[row]};
        double seen_us = 0;
        ASSERT_NO_THROW(seen_us = env.peek_latency_us(action)) << env.rules().info(action.rule).text;
        ASSERT_EQ(graph::structural_hash(env.graph()), hash);
        Environment twin = env.clone();
        const StepResult result = twin.step(action);
        ASSERT_EQ(result.info.invalid, Invalid::none);
        ASSERT_NO_THROW(graph::validate(twin.graph()));
        ASSERT_NE(graph::structural_hash(twin.graph()), hash) << env.rules().info(action.rule).text;
        EXPECT_EQ(result.info.after.latency_us, seen_us);
      }
      for (int steps = 0; steps < 3 && !env.done(); ++steps) env.step_candidate(random_candidate(env, rng));
    }
  }

  void rewards_add_up(std::uint64_t seed) const {
    EnvOptions options = options_;
    options.horizon_mode = HorizonMode::terminate;  // what is truncated need not have been paid yet
    Environment env = make_(options);
    Rng rng(seed, "rewards");
    for (int episode = 0; episode < 3; ++episode) {
      env.reset(seed + static_cast<std::uint64_t>(episode));
      double sum = 0;
      std::uint32_t rewrites = 0;
      EXPECT_EQ(env.rewrites(), 0u);
      StepResult result;
      while (!env.done()) {
        result = env.step_candidate(random_candidate(env, rng));
        sum += result.reward;
        rewrites += result.info.rewrites;
      }
      EXPECT_EQ(env.rewrites(), rewrites);
      EXPECT_EQ(env.peeked(), 0u);
      ASSERT_TRUE(result.terminated);
      const double initial = env.initial_cost().latency_us;
      const double end = (options_.reward == RewardKind::best ? env.best().cost : env.cost()).latency_us;
      EXPECT_NEAR(sum, (initial - end) / initial, 1e-12 * env.steps());
    }
  }

  void reset_equals_fresh(std::uint64_t seed) const {
    Environment env = make_(options_);
    const Observation first = env.reset(seed);
    const Hash128 hash = graph::structural_hash(env.graph());
    Rng rng(seed, "reset");
    for (int episode = 0; episode < 3; ++episode) {
      while (!env.done()) env.step_candidate(random_candidate(env, rng));
      EXPECT_TRUE(env.reset(seed) == first);
      EXPECT_EQ(graph::structural_hash(env.graph()), hash);
      EXPECT_EQ(env.cost().latency_us, env.initial_cost().latency_us);
      EXPECT_EQ(env.steps(), 0u);
      EXPECT_TRUE(env.present().path.empty() && env.best().path.empty());
    }
  }

  void best_graph_replays(std::uint64_t seed) const {
    Environment env = make_(options_);
    env.reset(seed);
    const graph::Graph start = env.graph();
    Rng rng(seed, "best");
    double least = env.cost().latency_us;
    while (!env.done()) {
      env.step_candidate(random_candidate(env, rng));
      least = std::min(least, env.cost().latency_us);
    }
    EXPECT_NEAR(env.best().cost.latency_us, least, 1e-9 * least);
    const graph::Graph best = replay(start, env.rules(), env.best().path);
    EXPECT_EQ(costs_.make(best)->cost().latency_us, env.best().cost.latency_us);
    const graph::Graph last = replay(start, env.rules(), env.present().path);
    EXPECT_EQ(graph::structural_hash(last), graph::structural_hash(env.graph()));
  }

  void clones_and_peeks_do_not_interfere(std::uint64_t seed) const {
    Environment env = make_(options_);
    env.reset(seed);
    Rng rng(seed, "clone");
    while (!env.done()) {
      const Observation before = env.observation();
      const Hash128 hash = graph::structural_hash(env.graph());
      const std::size_t candidate = random_candidate(env, rng);
      const Action action{before.candidate_rules[candidate], before.candidate_locations[candidate]};
      const std::uint64_t looked_at = env.peeked();
      const double peeked = env.peek_latency_us(action);
      Environment twin = env.clone();
      ASSERT_TRUE(twin.observation() == before);
      const StepResult theirs = twin.step(action);
      EXPECT_EQ(graph::structural_hash(env.graph()), hash);
      ASSERT_TRUE(fresh_observation(env) == before);
      const StepResult ours = env.step(action);
      EXPECT_EQ(ours.info.after.latency_us, peeked);
      EXPECT_EQ(ours.reward, theirs.reward);
      EXPECT_EQ(env.peeked() - looked_at, ours.info.rewrites) << "a peek costs what the step does";
      ASSERT_TRUE(twin.observation() == env.observation());
      twin.reset(seed);
      EXPECT_EQ(twin.cost().latency_us, env.initial_cost().latency_us);
      EXPECT_EQ(twin.peeked(), 0u);
    }
  }

 private:
  EpisodeConformance episodes() const {
    return {[this](EnvOptions options) { return std::make_unique<RealWorld>(make_(std::move(options))); },
            options_};
  }

  static std::vector<graph::NodeId> matched_ids(const Observation& seen, std::size_t row) {
    std::vector<graph::NodeId> nodes;
    for (const std::int32_t at : seen.matched_nodes(row))
      nodes.push_back(seen.node_ids[static_cast<std::size_t>(at)]);
    return nodes;
  }

  static void compare_with_fresh_match(const Environment& env) {
    const rules::MatchIndex fresh(env.rules(), env.graph());
    const Observation& seen = env.observation();
    ASSERT_EQ(seen.location_counts.size(), env.rules().size() + 1);
    std::size_t row = 0, beyond = 0;
    for (std::uint32_t rule = 0; rule < env.noop(); ++rule) {
      const auto matches = fresh.matches(rule);
      const bool all = env.options().action_mode == ActionMode::all_sites && matches.size() > 1;
      const std::size_t limit = env.options().location_limit - (all ? 1u : 0u);
      const std::size_t kept = std::min<std::size_t>(matches.size(), limit);
      ASSERT_EQ(seen.location_counts[rule], kept + (all ? 1u : 0u)) << "rule " << rule;
      beyond += matches.size() - kept;
      std::set<graph::NodeId> matched;
      for (const rules::Match& match : matches) matched.insert(match.nodes.begin(), match.nodes.end());
      if (all) {
        ASSERT_TRUE(seen.stands_for_all(rule, 0));
        ASSERT_EQ(seen.candidate_rules[row], rule);
        ASSERT_EQ(seen.candidate_locations[row], 0u);
        ASSERT_EQ(matched_ids(seen, row), std::vector<graph::NodeId>(matched.begin(), matched.end()));
        ++row;
      }
      for (std::size_t site = 0; site < kept; ++site, ++row) {
        const std::size_t location = site + (all ? 1u : 0u);
        ASSERT_EQ(seen.candidate_rules[row], rule);
        ASSERT_EQ(seen.candidate_locations[row], location);
        ASSERT_FALSE(seen.stands_for_all(rule, location));
        ASSERT_EQ(seen.site(rule, location), site);
        ASSERT_EQ(matched_ids(seen, row),
                  std::vector<graph::NodeId>(matches[site].nodes.begin(), matches[site].nodes.end()));
      }
    }
    ASSERT_EQ(seen.candidate_count(), row + 1) << "NO-OP is the one candidate behind the matches";
    EXPECT_EQ(seen.candidate_rules[row], env.noop());
    EXPECT_EQ(seen.location_counts[env.noop()], 1u);
    EXPECT_TRUE(seen.matched_nodes(row).empty());
    EXPECT_EQ(seen.truncated_locations, beyond);
  }

  Make make_;
  const cost::CostFactory& costs_;
  EnvOptions options_;
};

inline void check_environment(EnvironmentConformance::Make make, const cost::CostFactory& costs,
                              EnvOptions options, std::uint64_t seed) {
  EnvironmentConformance(std::move(make), costs, std::move(options)).check(seed);
}

}
