#include "replay/rollout/play.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include "core/rules/lang/rule_error.h"

namespace regraft::replay {

env::Action draw_random_action(const env::Observation& observation, double noop, Rng& rng) {
  const auto& counts = observation.location_counts;
  const auto stop = static_cast<std::uint32_t>(counts.size() - 1);
  std::vector<std::uint32_t> legal;
  for (std::uint32_t rule = 0; rule < stop; ++rule)
    if (counts[rule] > 0) legal.push_back(rule);
  const bool ends = rng.uniform() < noop;
  if (ends || legal.empty()) return {stop, 0};
  const std::uint32_t rule = legal[rng.below(legal.size())];
  if (!observation.has_all_sites(rule)) return {rule, static_cast<std::uint32_t>(rng.below(counts[rule]))};
  const bool all = rng.below(2) == 0;
  return {rule, all ? 0 : 1 + static_cast<std::uint32_t>(rng.below(counts[rule] - 1u))};
}

namespace {

env::Action cheapest_of(std::uint32_t choices, env::Environment& environment, double noop, Rng& rng) {
  env::Action best{environment.noop(), 0};
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t i = 0; i < choices; ++i) {
    const env::Action action = draw_random_action(environment.observation(), noop, rng);
    try {
      const double cost = environment.peek_latency_us(action);
      if (cost >= least) continue;
      least = cost;
    } catch (const rules::RuleError&) {  // refused by the rewriter: a step would change nothing
      continue;
    }
    best = action;
  }
  return best;
}

}  // namespace

Chooser random_chooser(double noop, std::uint32_t choices) {
  const auto levels = static_cast<std::uint64_t>(std::bit_width(std::max(choices, 1u)));
  return [noop, levels, now = 1u](env::Environment& environment, Rng& rng) mutable {
    if (levels == 1) return draw_random_action(environment.observation(), noop, rng);
    if (environment.steps() == 0) now = 1u << rng.below(levels);
    if (now == 1) return draw_random_action(environment.observation(), noop, rng);
    return cheapest_of(now, environment, noop, rng);
  };
}

Rollout play_rollout(env::Environment& environment, std::uint32_t model, std::uint64_t seed,
                     std::uint64_t sequence, const Chooser& choose) {
  Rollout rollout;
  rollout.model = model;
  rollout.seed = seed;
  rollout.sequence = sequence;
  Rng rng(seed, "collector");
  environment.reset(seed);
  while (!environment.done()) {
    const env::Action action = choose(environment, rng);
    const env::StepResult result = environment.step(action);
    rollout.steps.push_back({static_cast<std::uint16_t>(action.rule),
                             static_cast<std::uint16_t>(action.location), static_cast<float>(result.reward)});
    rollout.terminated = result.terminated;
  }
  const double initial = environment.initial_cost().latency_us;
  rollout.final_cost_ratio = static_cast<float>(environment.cost().latency_us / initial);
  rollout.best_cost_ratio = static_cast<float>(environment.best().cost.latency_us / initial);
  rollout.costed = environment.rewrites() + environment.peeked();
  return rollout;
}

}
