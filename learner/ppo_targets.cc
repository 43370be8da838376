#include "learner/ppo_targets.h"

#include <algorithm>
#include <cmath>

#include "replay/advantage.h"
#include "replay/error.h"

namespace regraft::learner {
namespace {

void check_lengths(const ActedSteps& acted, const ProximalSteps& proximal) {
  const std::size_t steps = acted.rewards.size();
  for (const std::size_t length :
       {acted.terminated.size(), acted.second_halves.size(), acted.first.size(), acted.second.size(),
        proximal.first.size(), proximal.second.size(), proximal.values.size(), proximal.xfer_values.size()})
    if (length != steps) throw replay::ReplayError("arrays differ in length", "PPO targets", "");
}

std::vector<float> ratios_of(std::span<const float> proximal, std::span<const float> acted) {
  std::vector<float> ratios(acted.size());
  for (std::size_t t = 0; t < acted.size(); ++t) ratios[t] = std::exp(proximal[t] - acted[t]);
  return ratios;
}

DecisionTargets decision(std::span<const float> proximal, replay::Advantages advantages,
                         const std::vector<float>& ratios, const PpoOptions& options) {
  DecisionTargets result;
  result.proximal.assign(proximal.begin(), proximal.end());
  result.advantages = std::move(advantages.advantages);
  result.targets = std::move(advantages.targets);
  const auto limit = static_cast<float>(options.ratio_limit);
  const bool decoupled = options.correction == Correction::decoupled;
  for (const float ratio : ratios) result.weights.push_back(decoupled ? std::min(limit, ratio) : 1.0F);
  return result;
}

template <typename Visit>
void for_advantages(StepTargets& targets, const Visit& visit) {
  for (std::size_t t = 0; t < targets.size(); ++t) {
    visit(targets.first.advantages[t]);
    if (targets.second_halves[t] != 0) visit(targets.second.advantages[t]);
  }
}

}  // namespace

void DecisionTargets::append(const DecisionTargets& more) {
  const auto add = [](std::vector<float>& to, const std::vector<float>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  add(proximal, more.proximal);
  add(weights, more.weights);
  add(advantages, more.advantages);
  add(targets, more.targets);
}

void StepTargets::append(const StepTargets& more) {
  second_halves.insert(second_halves.end(), more.second_halves.begin(), more.second_halves.end());
  first.append(more.first);
  second.append(more.second);
}

StepTargets make_targets(const ActedSteps& acted, const ProximalSteps& proximal, const PpoOptions& options) {
  check_lengths(acted, proximal);
  const replay::HalfStepInputs inputs{.rewards = acted.rewards,
                                      .values = proximal.values,
                                      .xfer_values = proximal.xfer_values,
                                      .second_halves = acted.second_halves,
                                      .terminated = acted.terminated,
                                      .bootstrap_value = acted.bootstrap_value,
                                      .gamma = static_cast<float>(options.gamma)};
  const auto lambda = static_cast<float>(options.lambda);
  const std::vector<float> first = ratios_of(proximal.first, acted.first);
  const std::vector<float> second = ratios_of(proximal.second, acted.second);
  replay::HalfStepAdvantages found = options.correction == Correction::decoupled
                                         ? replay::half_step_gae(inputs, lambda)
                                         : replay::half_step_v_trace(inputs, first, second, lambda);
  StepTargets result;
  result.second_halves.assign(acted.second_halves.begin(), acted.second_halves.end());
  result.first = decision(proximal.first, std::move(found.first), first, options);
  result.second = decision(proximal.second, std::move(found.second), second, options);
  return result;
}

void normalise_advantages(StepTargets& targets) {
  double sum = 0, squares = 0, count = 0;
  for_advantages(targets, [&](float advantage) {
    sum += advantage;
    ++count;
  });
  if (count == 0) return;
  const double mean = sum / count;
  for_advantages(targets, [&](float advantage) { squares += (advantage - mean) * (advantage - mean); });
  const double deviation = std::sqrt(squares / count);
  for_advantages(targets, [&](float& advantage) {
    advantage = static_cast<float>((advantage - mean) / (deviation + 1e-8));
  });
}

}  // namespace regraft::learner
