#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "core/env/action.h"
#include "core/env/horizon_mode.h"
#include "core/env/observation_writer.h"
#include "core/env/reward.h"
#include "core/env/rewrite_state.h"
#include "core/rules/lang/rule_error.h"

namespace regraft::env {

struct EnvOptions {
  std::uint32_t horizon = EpisodeLimits::kDefaultHorizon;  // steps, at least 1; invalid actions count
  HorizonMode horizon_mode = HorizonMode::terminate;
  /// Locations a rule, 1 to 65535; matches beyond it are counted in info.
  std::uint32_t location_limit = EpisodeLimits::kDefaultLocationLimit;
  RewardKind reward = RewardKind::incremental;
  RewardSettings reward_settings = {};
  double invalid_penalty = kDefaultInvalidPenalty;  // at least 0; subtracted for an action that is not legal
  graph::Bindings bindings = {};                    // sizes of symbolic dims, for features
  /// In the mode `all_sites`, each rule of two or more matches has one more location, its first. It stands
  /// for the rule at all of its sites (core/env/all_sites.h): one step, one reward. The location limit, now
  /// at least 2, counts it.
  ActionMode action_mode = ActionMode::one_site;
};

/// Where the time of a step went.
struct StepSeconds {
  double apply = 0;
  double cost = 0;
  double match = 0;
  double observe = 0;
};

struct StepInfo {
  std::string_view
      rule;  // that was applied; "NO-OP"; empty for an invalid action. Lives as long as the rule set.
  Invalid invalid = Invalid::none;
  cost::Cost before, after;
  std::uint32_t truncated_locations = 0;  // of the observation after the step
  std::uint32_t rewrites = 0;             // applied and costed, those that were taken back among them
  StepSeconds seconds;
};

struct StepResult {
  double reward = 0;
  bool terminated = false;  // the episode is over and worth nothing more
  bool truncated = false;   // the episode was cut at the horizon; bootstrap from observation()
  StepInfo info;
};

/// A graph of an episode, as the rewrites that lead to it from the initial graph.
struct Visited {
  cost::Cost cost;
  std::span<const rules::Match> path;  // valid until the next reset or step
};

/// Graph rewriting as a Markov decision process.
///
/// Data flow: an action names a match of the present observation by (rule, location). step() applies it
/// through the edit log, which tells cost model and match index what changed. The reward compares costs
/// relative to the initial graph; the next observation lists the legal actions. reset() undoes the episode.
/// Everything is deterministic: the same actions give the same rewards and observations; `seed` names the
/// episode for rewards that measure or draw.
///
/// An episode terminates on NO-OP (reward 0 by itself), when no rule is legal after a step, or at the
/// horizon. At reset a graph on which nothing is legal offers only NO-OP. A new environment is reset. One
/// thread, which also owns the graph's Tables. Rules, costs, clock and Tables outlive it.
class Environment {
 public:
  /// Throws EnvError on options out of range.
  Environment(const graph::Graph& start, const rules::RuleSet& rules, const cost::CostFactory& costs,
              EnvOptions options, const Clock& clock);

  /// The observation of the initial graph; ends an episode that was under way.
  const Observation& reset(std::uint64_t seed = 0);

  /// Throws EnvError after the end of an episode.
  StepResult step(Action action);
  /// The same by row of the observation's candidates.
  StepResult step_candidate(std::size_t candidate);

  const Observation& observation() const { return observation_; }
  bool done() const { return done_; }
  std::uint32_t steps() const { return steps_; }
  std::uint64_t seed() const { return seed_; }

  std::uint32_t noop() const { return static_cast<std::uint32_t>(state_.rules().size()); }
  const EnvOptions& options() const { return options_; }
  const graph::Graph& graph() const { return state_.graph(); }
  const rules::RuleSet& rules() const { return state_.rules(); }
  const cost::Cost& initial_cost() const { return initial_cost_; }
  const cost::Cost& cost() const { return cost_; }

  /// The present graph and the cheapest one of this episode (the earliest of equals).
  Visited present() const { return {cost_, state_.path()}; }
  Visited best() const { return {best_cost_, best_path_}; }

  /// Rewrites of this episode that were applied and costed, those that were taken back among them.
  std::uint32_t rewrites() const { return rewrites_; }
  /// Those of this episode that were looked at and taken back by peek_latency_us.
  std::uint64_t peeked() const { return peeked_; }

  /// The latency after a legal action; the environment stays as it is. NO-OP's is the present one. Throws
  /// EnvError on an illegal action. Throws RuleError where the rewriter refuses, or all sites of a rule lead
  /// back to this graph.
  double peek_latency_us(Action action);

  /// An independent environment in the same state.
  Environment clone() const;

 private:
  struct Place {
    const rules::Match* match = nullptr;  // null: all sites, NO-OP or invalid
    Invalid invalid = Invalid::none;
    bool all_sites = false;
  };

  Environment(const Environment& other, RewriteState state);

  Place locate(Action action);
  void take(Action action, StepResult& result);
  bool apply(const rules::Match& match);
  double peek_all_sites(std::uint32_t rule);
  void observe(StepSeconds& seconds);
  void restart(std::uint64_t seed);

  EnvOptions options_;
  const Clock* clock_;
  RewriteState state_;
  ObservationWriter writer_;
  std::unique_ptr<Reward> reward_;
  Observation observation_;
  cost::Cost initial_cost_, cost_, best_cost_;
  std::vector<rules::Match> best_path_;
  std::uint64_t seed_ = 0;
  std::uint32_t steps_ = 0;
  std::uint32_t rewrites_ = 0;
  std::uint64_t peeked_ = 0;
  bool done_ = false;
};

}
