#include "replay/advantage.h"

#include <algorithm>

#include "replay/error.h"

namespace regraft::replay {
namespace {

void check(const ReturnInputs& inputs) {
  const std::size_t steps = inputs.rewards.size();
  if (inputs.values.size() != steps || inputs.terminated.size() != steps)
    throw ReplayError("rewards, values and flags differ in length", "advantages", "");
}

/// Backs up from the last step: v_t = V(s_t) + rho_t delta_t + gamma c_t (v_{t+1} - V(s_{t+1})). GAE is the
/// case rho = 1, c = lambda, with advantages v_t - V(s_t).
template <typename Rho, typename C>
std::vector<double> back_up(const ReturnInputs& inputs, Rho rho, C c) {
  const std::size_t steps = inputs.rewards.size();
  std::vector<double> targets(steps);
  double next_value = inputs.bootstrap_value, correction = 0;
  for (std::size_t t = steps; t-- > 0;) {
    const double gamma = inputs.terminated[t] != 0 ? 0.0 : static_cast<double>(inputs.gamma);
    const double delta = inputs.rewards[t] + gamma * next_value - inputs.values[t];
    correction = rho(t) * delta + gamma * c(t) * correction;
    targets[t] = inputs.values[t] + correction;
    next_value = inputs.values[t];
  }
  return targets;
}

}  // namespace

Advantages gae(const ReturnInputs& inputs, float lambda) {
  check(inputs);
  const auto targets = back_up(
      inputs, [](std::size_t) { return 1.0; }, [lambda](std::size_t) { return static_cast<double>(lambda); });
  Advantages result;
  for (std::size_t t = 0; t < targets.size(); ++t) {
    result.targets.push_back(static_cast<float>(targets[t]));
    result.advantages.push_back(static_cast<float>(targets[t] - inputs.values[t]));
  }
  return result;
}

Advantages v_trace(const ReturnInputs& inputs, std::span<const float> ratios, float lambda, float rho_clip,
                   float c_clip) {
  check(inputs);
  if (ratios.size() != inputs.rewards.size()) throw ReplayError("ratios differ in length", "advantages", "");
  const auto rho = [&](std::size_t t) { return static_cast<double>(std::min(rho_clip, ratios[t])); };
  const auto c = [&](std::size_t t) { return static_cast<double>(lambda) * std::min(c_clip, ratios[t]); };
  const auto targets = back_up(inputs, rho, c);
  Advantages result;
  for (std::size_t t = 0; t < targets.size(); ++t) {
    const double next = t + 1 < targets.size() ? targets[t + 1] : inputs.bootstrap_value;
    const double gamma = inputs.terminated[t] != 0 ? 0.0 : static_cast<double>(inputs.gamma);
    result.targets.push_back(static_cast<float>(targets[t]));
    result.advantages.push_back(
        static_cast<float>(rho(t) * (inputs.rewards[t] + gamma * next - inputs.values[t])));
  }
  return result;
}

}  // namespace regraft::replay
