#pragma once

#include <cstdint>
#include <optional>

#include "core/base/clock.h"
#include "learner/job/phase.h"
#include "learner/world/world_fit.h"
#include "replay/rollout/rollout.h"

namespace regraft::learner {

/// Curves of the phases `collect` and `world-model`, in a folder for each half, as each has its own x:
///   RUN/events/collect   over the steps collected: collect/*
///   RUN/events/fit       over the updates: encoder/*, dynamics/*, reward/*
/// One thread.
class WorldCurves {
 public:
  /// The clock outlives it.
  explicit WorldCurves(const Clock& clock) : clock_(clock), written_ns_(clock.steady_ns()) {}

  /// An episode was admitted.
  void add(const replay::Rollout& rollout);
  /// A point, where the last one is some seconds old or it is the last.
  std::optional<CurvePoint> collected(std::uint64_t steps, std::uint64_t episodes, bool last);
  /// A point, where the newest update's figures were due and it has none yet.
  std::optional<CurvePoint> fitted(const WorldFit& fit, std::uint64_t steps);

 private:
  const Clock& clock_;
  std::int64_t written_ns_;
  std::uint64_t fitted_ = 0;  // updates at the last point
  std::uint64_t added_ = 0;   // since the last point, as the sums
  double final_ratios_ = 0, best_ratios_ = 0, steps_ = 0;
};

}  // namespace regraft::learner
