#pragma once

#include <cstdint>
#include <optional>

#include "core/base/clock.h"
#include "learner/job/curve_point.h"
#include "replay/rollout/rollout.h"

namespace regraft::learner {

/// Curves of collecting, RUN/events/collect, over the steps collected: collect/*. One thread.
class CollectCurves {
 public:
  /// The clock outlives it.
  explicit CollectCurves(const Clock& clock) : clock_(clock), written_ns_(clock.steady_ns()) {}

  /// An episode was admitted.
  void add(const replay::Rollout& rollout);
  /// A point, where the last one is some seconds old or it is the last; `steps` and `episodes` are in all.
  std::optional<CurvePoint> point(std::uint64_t steps, std::uint64_t episodes, bool last);

 private:
  const Clock& clock_;
  std::int64_t written_ns_;
  std::uint64_t added_ = 0;  // since the last point, as the sums
  double final_ratios_ = 0, best_ratios_ = 0, steps_ = 0;
};

}
