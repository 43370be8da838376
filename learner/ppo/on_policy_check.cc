#include "learner/ppo/on_policy_check.h"

#include <algorithm>

#include "core/base/log.h"

namespace regraft::learner {
namespace {

constexpr double kDeterministicBound = 1e-5, kCpuBound = 1e-4, kGpuBound = 1e-3;

}  // namespace

OnPolicyCheck::OnPolicyCheck(bool deterministic, const std::string& device)
    : of_all_(deterministic),
      bound_(deterministic      ? kDeterministicBound
             : device == "cuda" ? kGpuBound
                                : kCpuBound) {}

bool OnPolicyCheck::add(const PpoMetrics& metrics) {
  record_.ratio_error = std::max(record_.ratio_error, metrics.lag0_ratio_max);
  record_.steps += metrics.lag0_steps;
  const double seen = of_all_ ? metrics.lag0_ratio_max : metrics.lag0_ratio_p999;
  if (seen < bound_) return true;
  if (!warned_)
    log_warning(
        "|pi/mu - 1| at lag 0 is {:.2g}{}, over the bound of {:g}: actors may see other masks or weights "
        "than "
        "the learner; said once",
        seen, of_all_ ? "" : " at the 99.9th percentile", bound_);
  warned_ = true;
  return false;
}

}
