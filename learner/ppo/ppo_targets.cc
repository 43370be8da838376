#include "learner/ppo/ppo_targets.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "replay/rollout/advantage.h"
#include "replay/rollout/replay_error.h"

namespace regraft::learner {
namespace {

void check_lengths(const ActedSteps& acted, const ProximalSteps& proximal) {
  const std::size_t steps = acted.rewards.size();
  for (const std::size_t length :
       {acted.terminated.size(), acted.second_halves.size(), acted.first.size(), acted.second.size(),
        proximal.first.size(), proximal.second.size(), proximal.values.size(), proximal.rule_values.size()})
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

/// Calls visit(step, advantage) for every decision.
template <typename Visit>
void for_advantages(StepTargets& targets, const Visit& visit) {
  for (std::size_t t = 0; t < targets.size(); ++t) {
    visit(t, targets.first.advantages[t]);
    if (targets.second_halves[t] != 0) visit(t, targets.second.advantages[t]);
  }
}

struct Moments {
  double sum = 0, squares = 0, count = 0;

  void add(double value) {
    sum += value;
    squares += value * value;
    ++count;
  }
  double mean() const { return sum / count; }
  double deviation() const { return std::sqrt(std::max(0.0, squares / count - mean() * mean())); }
};

constexpr double kLeastShare = 0.1;  // of the deviation within all groups

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

void DecisionTargets::append(const DecisionTargets& from, std::size_t step) {
  proximal.push_back(from.proximal[step]);
  weights.push_back(from.weights[step]);
  advantages.push_back(from.advantages[step]);
  targets.push_back(from.targets[step]);
}

void StepTargets::append(const StepTargets& from, std::size_t step) {
  second_halves.push_back(from.second_halves[step]);
  imitated.push_back(from.imitated[step]);
  first.append(from.first, step);
  second.append(from.second, step);
}

void StepTargets::append(const StepTargets& more) {
  second_halves.insert(second_halves.end(), more.second_halves.begin(), more.second_halves.end());
  imitated.insert(imitated.end(), more.imitated.begin(), more.imitated.end());
  first.append(more.first);
  second.append(more.second);
}

StepTargets make_targets(const ActedSteps& acted, const ProximalSteps& proximal, const PpoOptions& options) {
  check_lengths(acted, proximal);
  const replay::HalfStepInputs inputs{.rewards = acted.rewards,
                                      .values = proximal.values,
                                      .rule_values = proximal.rule_values,
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
  result.imitated.assign(acted.rewards.size(), 0);
  result.first = decision(proximal.first, std::move(found.first), first, options);
  result.second = decision(proximal.second, std::move(found.second), second, options);
  return result;
}

StepTargets make_imitation_targets(const ActedSteps& acted, const ProximalSteps& proximal,
                                   const PpoOptions& options) {
  check_lengths(acted, proximal);
  const std::size_t steps = acted.rewards.size();
  if (steps == 0 || acted.terminated.back() == 0)
    throw replay::ReplayError("an imitated episode did not terminate", "PPO targets", "keep those that did");
  StepTargets result;
  result.second_halves.assign(acted.second_halves.begin(), acted.second_halves.end());
  result.imitated.assign(acted.rewards.size(), 1);
  std::vector<float> returns(steps);
  double following = 0;
  for (std::size_t t = steps; t-- > 0;) {
    following = acted.rewards[t] + options.gamma * following;
    returns[t] = static_cast<float>(following);
  }
  const auto fill = [&](DecisionTargets& half, std::span<const float> probabilities,
                        std::span<const float> values, std::span<const std::uint8_t> present) {
    half.proximal.assign(probabilities.begin(), probabilities.end());
    half.weights.assign(steps, 1.0F);
    half.advantages.assign(steps, 0.0F);
    half.targets.assign(steps, 0.0F);
    for (std::size_t t = 0; t < steps; ++t)
      if (present.empty() || present[t] != 0) half.advantages[t] = std::max(0.0F, returns[t] - values[t]);
  };
  fill(result.first, proximal.first, proximal.values, {});
  fill(result.second, proximal.second, proximal.rule_values, acted.second_halves);
  return result;
}

AdvantageScales normalise_advantages(StepTargets& targets, std::span<const std::uint32_t> groups) {
  if (!groups.empty() && groups.size() != targets.size())
    throw replay::ReplayError("arrays differ in length", "PPO targets", "");
  const auto group_of = [&](std::size_t t) { return groups.empty() ? 0U : groups[t]; };
  std::map<std::uint32_t, Moments> by_group;
  for_advantages(targets, [&](std::size_t t, float advantage) { by_group[group_of(t)].add(advantage); });
  double squares = 0, count = 0;  // around the means of their groups
  for (const auto& [group, own] : by_group) {
    squares += own.count * own.deviation() * own.deviation();
    count += own.count;
  }
  const double least = kLeastShare * std::sqrt(squares / std::max(count, 1.0));
  AdvantageScales scales;
  for (const auto& [group, own] : by_group) scales[group] = std::max(own.deviation(), least) + 1e-8;
  for_advantages(targets, [&](std::size_t t, float& advantage) {
    const std::uint32_t group = group_of(t);
    advantage = static_cast<float>((advantage - by_group.at(group).mean()) / scales.at(group));
  });
  return scales;
}

void scale_imitated(StepTargets& targets, std::span<const std::uint32_t> groups,
                    const AdvantageScales& scales) {
  if (groups.size() != targets.size())
    throw replay::ReplayError("arrays differ in length", "PPO targets", "");
  for_advantages(targets, [&](std::size_t t, float& advantage) {
    const auto scale = scales.find(groups[t]);
    if (advantage > 0)
      advantage = scale == scales.end()
                      ? 0.0F
                      : static_cast<float>(std::min(advantage / scale->second, kMostDeviations));
  });
}

}
