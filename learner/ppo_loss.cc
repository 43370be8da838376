#include "learner/ppo_loss.h"

namespace regraft::learner {

using torch::Tensor;

Tensor ppo_loss(std::span<const Decisions> kinds, const PpoOptions& options, double entropy_coefficient,
                PpoSums& sums) {
  Tensor gain, error, entropy, kl, clipped_count;
  const auto add = [](Tensor& to, const Tensor& more) { to = to.defined() ? to + more.sum() : more.sum(); };
  std::int64_t decisions = 0;
  for (const Decisions& kind : kinds) {
    if (kind.log_probability.numel() == 0) continue;
    const auto log_ratio = kind.log_probability - kind.proximal;
    const auto ratio = log_ratio.exp();
    const auto clipped = ratio.clamp(1 - options.clip, 1 + options.clip);
    auto surrogate = torch::min(ratio * kind.advantages, clipped * kind.advantages);
    if (kind.imitated.defined())
      surrogate = torch::where(kind.imitated, kind.log_probability * kind.advantages, surrogate);
    add(gain, kind.weights * surrogate);
    add(error, (kind.values - kind.targets).pow(2));
    add(entropy, kind.entropy);
    add(kl, (ratio - 1 - log_ratio).detach());
    add(clipped_count, ((ratio - 1).abs() > options.clip).to(ratio.scalar_type()));
    decisions += kind.log_probability.numel();
  }
  const auto steps = static_cast<double>(kinds.front().log_probability.numel());
  const auto policy_loss = -gain / steps, value_loss = error / steps;
  entropy = entropy / steps;
  sums.policy_loss += policy_loss.item<double>();
  sums.value_loss += value_loss.item<double>();
  sums.entropy += entropy.item<double>();
  sums.approx_kl += kl.item<double>() / static_cast<double>(decisions);
  sums.clip_fraction += clipped_count.item<double>() / static_cast<double>(decisions);
  return policy_loss + options.value_coefficient * value_loss - entropy_coefficient * entropy;
}

}  // namespace regraft::learner
