#include "learner/ppo/ppo_loss.h"

#include <algorithm>

namespace regraft::learner {

using torch::Tensor;

Tensor ppo_loss(std::span<const Decisions> kinds, const PpoOptions& options, double entropy_coefficient,
                PpoSums& sums) {
  Tensor gain, error, entropy, kl, clipped_count;
  const auto add = [](Tensor& to, const Tensor& more) { to = to.defined() ? to + more.sum() : more.sum(); };
  std::int64_t decisions = 0;
  for (const Decisions& kind : kinds) {
    if (kind.log_probability.numel() == 0) continue;
    const bool imitates = kind.imitated.defined();
    const auto fresh = [&](const Tensor& term) {
      return imitates ? term.masked_fill(kind.imitated, 0) : term;
    };
    const auto log_ratio = fresh(kind.log_probability - kind.proximal);
    const auto ratio = log_ratio.exp();
    const auto clipped = ratio.clamp(1 - options.clip, 1 + options.clip);
    auto surrogate = torch::min(ratio * kind.advantages, clipped * kind.advantages);
    if (imitates) surrogate = torch::where(kind.imitated, kind.log_probability * kind.advantages, surrogate);
    add(gain, kind.weights * surrogate);
    add(error, fresh((kind.values - kind.targets).pow(2)));
    add(entropy, fresh(kind.entropy));
    add(kl, (ratio - 1 - log_ratio).detach());
    add(clipped_count, ((ratio - 1).abs() > options.clip).to(ratio.scalar_type()));
    decisions += kind.log_probability.numel() - (imitates ? kind.imitated.sum().item<std::int64_t>() : 0);
  }
  const auto steps = static_cast<double>(kinds.front().log_probability.numel());
  const auto policy_loss = -gain / steps, value_loss = error / steps;
  entropy = entropy / steps;
  sums.policy_loss += policy_loss.item<double>();
  sums.value_loss += value_loss.item<double>();
  sums.entropy += entropy.item<double>();
  const auto fresh_decisions = static_cast<double>(std::max<std::int64_t>(decisions, 1));
  sums.approx_kl += kl.item<double>() / fresh_decisions;
  sums.clip_fraction += clipped_count.item<double>() / fresh_decisions;
  return policy_loss + options.value_coefficient * value_loss - entropy_coefficient * entropy;
}

}  // namespace regraft::learner
