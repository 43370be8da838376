#include "replay/play.h"

#include <vector>

namespace regraft::replay {

env::Action draw_random_action(const env::Observation& observation, double noop, Rng& rng) {
  const auto& counts = observation.location_counts;
  const auto stop = static_cast<std::uint32_t>(counts.size() - 1);
  std::vector<std::uint32_t> legal;
  for (std::uint32_t xfer = 0; xfer < stop; ++xfer)
    if (counts[xfer] > 0) legal.push_back(xfer);
  const bool ends = rng.uniform() < noop;
  if (ends || legal.empty()) return {stop, 0};
  const std::uint32_t xfer = legal[rng.below(legal.size())];
  return {xfer, static_cast<std::uint32_t>(rng.below(counts[xfer]))};
}

Chooser random_chooser(double noop) {
  return [noop](const env::Observation& observation, Rng& rng) {
    return draw_random_action(observation, noop, rng);
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
    const env::Action action = choose(environment.observation(), rng);
    const env::StepResult result = environment.step(action);
    rollout.steps.push_back({static_cast<std::uint16_t>(action.xfer),
                             static_cast<std::uint16_t>(action.location), static_cast<float>(result.reward)});
    rollout.terminated = result.terminated;
  }
  const double initial = environment.initial_cost().latency_us;
  rollout.final_cost_ratio = static_cast<float>(environment.cost().latency_us / initial);
  rollout.best_cost_ratio = static_cast<float>(environment.best().cost.latency_us / initial);
  return rollout;
}

}  // namespace regraft::replay
