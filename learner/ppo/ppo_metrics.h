#pragma once

#include <cstddef>

namespace regraft::learner {

/// One update in figures; means are over its minibatches.
struct PpoMetrics {
  std::size_t steps = 0;
  std::size_t minibatches = 0;
  double policy_loss = 0;
  double value_loss = 0;
  double entropy = 0;              // nats
  double approx_kl = 0;            // of pi from pi_prox: mean of r - 1 - log r (Schulman 2020)
  double clip_fraction = 0;        // of decisions whose ratio left [1 - clip, 1 + clip]
  double explained_variance = 0;   // of the targets by the values before the update
  double gradient_norm = 0;        // before clipping
  double truncated_fraction = 0;   // of decisions whose pi_prox / mu was over ratio_limit
  std::size_t imitated_steps = 0;  // of the best episodes so far, trained on beside `steps`
  // The check that finds mask and version bugs: |pi / mu - 1| over all decisions, both halves of a step,
  // acted with the learner's current weights.
  std::size_t lag0_steps = 0;
  double lag0_ratio_max = 0;
  double lag0_ratio_p999 = 0;
};

}
