#include "replay/rollout/advantage.h"

#include <algorithm>

#include "replay/rollout/replay_error.h"

namespace regraft::replay {
namespace {

void require(bool holds) {
  if (!holds) throw ReplayError("rewards, values, ratios and flags differ in length", "advantages", "");
}

/// Decisions in order, whole steps or halves of them. `discount` is of what follows the decision, 0 after an
/// end.
struct Chain {
  std::vector<float> rewards, values, ratios;
  std::vector<double> discounts;
  double bootstrap = 0;

  std::size_t size() const { return rewards.size(); }
  void add(float reward, float value, double discount) {
    rewards.push_back(reward);
    values.push_back(value);
    discounts.push_back(discount);
  }
};

double discount_after(std::uint8_t terminated, float gamma) {
  return terminated != 0 ? 0.0 : static_cast<double>(gamma);
}

Chain chain_of(const ReturnInputs& inputs) {
  const std::size_t steps = inputs.rewards.size();
  require(inputs.values.size() == steps && inputs.terminated.size() == steps);
  Chain chain;
  chain.bootstrap = inputs.bootstrap_value;
  for (std::size_t t = 0; t < steps; ++t)
    chain.add(inputs.rewards[t], inputs.values[t], discount_after(inputs.terminated[t], inputs.gamma));
  return chain;
}

Chain chain_of(const HalfStepInputs& inputs) {
  const std::size_t steps = inputs.rewards.size();
  require(inputs.values.size() == steps && inputs.rule_values.size() == steps &&
          inputs.second_halves.size() == steps && inputs.terminated.size() == steps);
  Chain chain;
  chain.bootstrap = inputs.bootstrap_value;
  for (std::size_t t = 0; t < steps; ++t) {
    const double after = discount_after(inputs.terminated[t], inputs.gamma);
    if (inputs.second_halves[t] != 0) {
      chain.add(0, inputs.values[t], 1);
      chain.add(inputs.rewards[t], inputs.rule_values[t], after);
    } else {
      chain.add(inputs.rewards[t], inputs.values[t], after);
    }
  }
  return chain;
}

/// Backs up from the last decision: v_t = V_t + rho_t delta_t + gamma_t c_t (v_{t+1} - V_{t+1}). GAE is the
/// case rho = 1, c = lambda, with advantages v_t - V_t.
template <typename Rho, typename C>
std::vector<double> back_up(const Chain& chain, Rho rho, C c) {
  std::vector<double> targets(chain.size());
  double next_value = chain.bootstrap, correction = 0;
  for (std::size_t t = chain.size(); t-- > 0;) {
    const double delta = chain.rewards[t] + chain.discounts[t] * next_value - chain.values[t];
    correction = rho(t) * delta + chain.discounts[t] * c(t) * correction;
    targets[t] = chain.values[t] + correction;
    next_value = chain.values[t];
  }
  return targets;
}

Advantages gae(const Chain& chain, float lambda) {
  const auto targets = back_up(
      chain, [](std::size_t) { return 1.0; }, [lambda](std::size_t) { return static_cast<double>(lambda); });
  Advantages result;
  for (std::size_t t = 0; t < targets.size(); ++t) {
    result.targets.push_back(static_cast<float>(targets[t]));
    result.advantages.push_back(static_cast<float>(targets[t] - chain.values[t]));
  }
  return result;
}

Advantages v_trace(const Chain& chain, float lambda, float rho_clip, float c_clip) {
  require(chain.ratios.size() == chain.size());
  const auto rho = [&](std::size_t t) { return static_cast<double>(std::min(rho_clip, chain.ratios[t])); };
  const auto c = [&](std::size_t t) {
    return static_cast<double>(lambda) * std::min(c_clip, chain.ratios[t]);
  };
  const auto targets = back_up(chain, rho, c);
  Advantages result;
  for (std::size_t t = 0; t < targets.size(); ++t) {
    const double next = t + 1 < targets.size() ? targets[t + 1] : chain.bootstrap;
    result.targets.push_back(static_cast<float>(targets[t]));
    result.advantages.push_back(
        static_cast<float>(rho(t) * (chain.rewards[t] + chain.discounts[t] * next - chain.values[t])));
  }
  return result;
}

/// One entry a step again.
HalfStepAdvantages halves_of(const Advantages& all, std::span<const std::uint8_t> second_halves) {
  HalfStepAdvantages result;
  std::size_t at = 0;
  const auto move = [&](Advantages& to, bool there) {
    to.advantages.push_back(there ? all.advantages[at] : 0.0F);
    to.targets.push_back(there ? all.targets[at] : 0.0F);
    at += there ? 1 : 0;
  };
  for (const std::uint8_t second : second_halves) {
    move(result.first, true);
    move(result.second, second != 0);
  }
  return result;
}

}  // namespace

Advantages gae(const ReturnInputs& inputs, float lambda) {
  return gae(chain_of(inputs), lambda);
}

Advantages v_trace(const ReturnInputs& inputs, std::span<const float> ratios, float lambda, float rho_clip,
                   float c_clip) {
  Chain chain = chain_of(inputs);
  chain.ratios.assign(ratios.begin(), ratios.end());
  return v_trace(chain, lambda, rho_clip, c_clip);
}

HalfStepAdvantages half_step_gae(const HalfStepInputs& inputs, float lambda) {
  return halves_of(gae(chain_of(inputs), lambda), inputs.second_halves);
}

HalfStepAdvantages half_step_v_trace(const HalfStepInputs& inputs, std::span<const float> first_ratios,
                                     std::span<const float> second_ratios, float lambda, float rho_clip,
                                     float c_clip) {
  Chain chain = chain_of(inputs);
  require(first_ratios.size() == inputs.rewards.size() && second_ratios.size() == inputs.rewards.size());
  for (std::size_t t = 0; t < first_ratios.size(); ++t) {
    chain.ratios.push_back(first_ratios[t]);
    if (inputs.second_halves[t] != 0) chain.ratios.push_back(second_ratios[t]);
  }
  return halves_of(v_trace(chain, lambda, rho_clip, c_clip), inputs.second_halves);
}

}
