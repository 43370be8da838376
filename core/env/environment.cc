#include "core/env/environment.h"

#include <optional>
#include <string>
#include <utility>

#include "core/env/all_sites.h"
#include "core/env/env_error.h"
#include "core/rules/lang/rule_error.h"

namespace regraft::env {
namespace {

EnvOptions checked(EnvOptions options) {
  if (options.horizon < 1) throw EnvError("the horizon is 0 steps", "horizon", "use at least 1");
  if (options.location_limit < 1 || options.location_limit > 65535) {
    throw EnvError("the location limit is " + std::to_string(options.location_limit), "location_limit",
                   "use 1 to 65535");
  }
  if (options.action_mode == ActionMode::all_sites && options.location_limit < 2)
    throw EnvError("the location limit leaves no room for all sites beside one", "location_limit",
                   "use at least 2");
  if (!(options.invalid_penalty >= 0))
    throw EnvError("the penalty is negative", "invalid_penalty", "use 0 or more");
  return options;
}

/// Adds the time from its making to its end to `total`.
class Stopwatch {
 public:
  Stopwatch(const Clock& clock, double& total) : clock_(clock), total_(total), start_ns_(clock.steady_ns()) {}
  ~Stopwatch() {
    total_ +=
        static_cast<double>(clock_.steady_ns() - start_ns_) / static_cast<double>(nanoseconds_per_second);
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  const Clock& clock_;
  double& total_;
  std::int64_t start_ns_;
};

}  // namespace

Environment::Environment(const graph::Graph& start, const rules::RuleSet& rules,
                         const cost::CostFactory& costs, EnvOptions options, const Clock& clock)
    : options_(checked(std::move(options))),
      clock_(&clock),
      state_(start, rules, costs),
      writer_(start.tables(), options_.bindings),
      reward_(make_reward(options_.reward, options_.reward_settings)),
      initial_cost_(state_.cost()) {
  restart(0);
}

const Observation& Environment::reset(std::uint64_t seed) {
  restart(seed);
  return observation_;
}

void Environment::restart(std::uint64_t seed) {
  state_.rewind_to(0);
  reward_->reset(state_.graph());
  cost_ = best_cost_ = initial_cost_;
  best_path_.clear();
  seed_ = seed;
  steps_ = 0;
  rewrites_ = 0;
  peeked_ = 0;
  done_ = false;
  StepSeconds unreported;
  observe(unreported);
  state_.forget_the_past();
}

StepResult Environment::step_candidate(std::size_t candidate) {
  if (candidate >= observation_.candidate_count()) {
    throw EnvError(
        "candidate " + std::to_string(candidate) + " of " + std::to_string(observation_.candidate_count()),
        "step", "choose a row of the present observation");
  }
  return step({observation_.candidate_rules[candidate], observation_.candidate_locations[candidate]});
}

StepResult Environment::step(Action action) {
  if (done_) throw EnvError("the episode is over", "step", "call reset first");
  StepResult result;
  result.info.before = cost_;
  ++steps_;
  take(action, result);
  observe(result.info.seconds);
  const bool stopped = action.rule == noop() && result.info.invalid == Invalid::none;
  const bool nothing_legal = observation_.candidate_count() == 1;
  const bool at_horizon = steps_ >= options_.horizon;
  result.terminated =
      stopped || nothing_legal || (at_horizon && options_.horizon_mode == HorizonMode::terminate);
  result.truncated = at_horizon && !result.terminated;
  result.info.after = cost_;
  result.info.truncated_locations = observation_.truncated_locations;
  result.reward =
      reward_->pay({initial_cost_, result.info.before, cost_, state_.graph(), steps_, result.terminated});
  if (result.info.invalid != Invalid::none) result.reward -= options_.invalid_penalty;
  done_ = result.terminated || result.truncated;
  return result;
}

Environment::Place Environment::locate(Action action) {
  if (action.rule > noop()) return {nullptr, Invalid::no_such_rule};
  if (action.location >= observation_.location_counts[action.rule])
    return {nullptr, Invalid::no_such_location};
  if (action.rule == noop()) return {};
  if (observation_.stands_for_all(action.rule, action.location)) return {nullptr, Invalid::none, true};
  const std::size_t site = observation_.site(action.rule, action.location);
  return {&state_.index().matches(action.rule)[site], Invalid::none};
}

bool Environment::apply(const rules::Match& match) {
  try {
    state_.apply(match);
  } catch (const rules::RuleError&) {
    return false;
  }
  return true;
}

void Environment::take(Action action, StepResult& result) {
  const Place place = locate(action);
  result.info.invalid = place.invalid;
  if (place.invalid != Invalid::none) return;
  if (!place.match && !place.all_sites) {
    result.info.rule = "NO-OP";
    return;
  }
  const std::size_t depth = state_.depth();
  {
    const Stopwatch watch(*clock_, result.info.seconds.apply);
    if (place.all_sites)
      result.info.rewrites = static_cast<std::uint32_t>(apply_at_all_sites(
          state_, action.rule,
          [this](const rules::Match& match) { return apply(match) ? Applied::yes : Applied::refused; }));
    else
      result.info.rewrites = apply(*place.match) ? 1 : 0;
  }
  rewrites_ += result.info.rewrites;
  if (state_.depth() == depth) {
    result.info.invalid = Invalid::refused;
    return;
  }
  result.info.rule = state_.rules().info(action.rule).name;
  const Stopwatch watch(*clock_, result.info.seconds.cost);
  cost_ = state_.cost();
  if (cheaper(cost_, best_cost_)) {
    best_cost_ = cost_;
    best_path_.assign(state_.path().begin(), state_.path().end());
  }
}

void Environment::observe(StepSeconds& seconds) {
  {
    const Stopwatch watch(*clock_, seconds.match);
    state_.index().match_count();  // the index puts its matches in order when it is asked for them
  }
  const Stopwatch watch(*clock_, seconds.observe);
  writer_.write(state_,
                {initial_cost_, steps_, options_.horizon, options_.location_limit, options_.action_mode},
                observation_);
}

double Environment::peek_latency_us(Action action) {
  const Place place = locate(action);
  if (place.invalid != Invalid::none) {
    throw EnvError(std::string(describe(place.invalid)), "peek_latency_us",
                   "choose a candidate of the present observation");
  }
  if (place.all_sites) return peek_all_sites(action.rule);
  if (!place.match) return cost_.latency_us;
  ++peeked_;
  return state_.peek_latency_us(*place.match);
}

double Environment::peek_all_sites(std::uint32_t rule) {
  const std::size_t depth = state_.depth();
  std::optional<rules::RuleError> refusal;
  peeked_ += apply_at_all_sites(state_, rule, [&](const rules::Match& match) {
    try {
      state_.apply(match);
    } catch (const rules::RuleError& error) {
      refusal = error;
      return Applied::refused;
    }
    return Applied::yes;
  });
  if (state_.depth() == depth) {
    if (refusal) throw rules::RuleError(*refusal);
    throw rules::RuleError("only leads back to this graph", state_.rules().info(rule).name,
                           "leave this action out");
  }
  const double seen = state_.cost_model().latency_us();
  state_.rewind_to(depth);
  return seen;
}

Environment::Environment(const Environment& other, RewriteState state)
    : options_(other.options_),
      clock_(other.clock_),
      state_(std::move(state)),
      writer_(other.writer_),
      reward_(other.reward_->clone()),
      observation_(other.observation_),
      initial_cost_(other.initial_cost_),
      cost_(other.cost_),
      best_cost_(other.best_cost_),
      best_path_(other.best_path_),
      seed_(other.seed_),
      steps_(other.steps_),
      rewrites_(other.rewrites_),
      peeked_(other.peeked_),
      done_(other.done_) {}

Environment Environment::clone() const {
  return Environment(*this, state_.clone());
}

}
