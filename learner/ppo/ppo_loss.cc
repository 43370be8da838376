#include "learner/ppo/ppo_loss.h"

#include <algorithm>

namespace regraft::learner {

using torch::Tensor;

void add_to(Tensor& sum, const Tensor& more) {
  sum = sum.defined() ? sum + more : more;
}

Tensor ppo_loss(std::span<const Decisions> kinds, const PpoOptions& options, double entropy_coefficient,
                PpoSums& sums, std::optional<MinibatchSize> whole) {
  Tensor gain, imitated_gain, error, entropy, kl, clipped_count;
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
    const auto surrogate = torch::min(ratio * kind.advantages, clipped * kind.advantages);
    add_to(gain, fresh(kind.weights * surrogate).sum());
    if (imitates)
      add_to(imitated_gain, (kind.weights * (kind.log_probability * kind.advantages))
                                .masked_fill(kind.imitated.logical_not(), 0)
                                .sum());
    add_to(error, fresh((kind.values - kind.targets).pow(2)).sum());
    add_to(entropy, fresh(kind.entropy).sum());
    add_to(kl, (ratio - 1 - log_ratio).detach().sum());
    add_to(clipped_count, ((ratio - 1).abs() > options.clip).to(ratio.scalar_type()).sum());
    decisions += kind.log_probability.numel() - kind.imitated_count;
  }
  const std::int64_t own_imitated = kinds.front().imitated_count;
  const MinibatchSize size =
      whole.value_or(MinibatchSize{kinds.front().log_probability.numel() - own_imitated, own_imitated});
  const auto steps = static_cast<double>(std::max<std::int64_t>(size.steps, 1));
  auto policy_loss = -gain / steps;
  if (own_imitated > 0)
    policy_loss = policy_loss - options.imitation / static_cast<double>(size.imitated) * imitated_gain;
  const auto value_loss = error / steps;
  entropy = entropy / steps;
  const auto report = [](Tensor& sum, const Tensor& figure, double divisor) {
    add_to(sum, figure.detach().to(torch::kFloat64) / divisor);
  };
  const auto fresh_decisions = static_cast<double>(std::max<std::int64_t>(decisions, 1));
  report(sums.policy_loss, policy_loss, 1);
  report(sums.value_loss, value_loss, 1);
  report(sums.entropy, entropy, 1);
  report(sums.approx_kl, kl, fresh_decisions);
  report(sums.clip_fraction, clipped_count, fresh_decisions);
  return policy_loss + options.value_coefficient * value_loss - entropy_coefficient * entropy;
}

}
