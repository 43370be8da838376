#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/base/clock.h"
#include "core/base/tensorboard.h"
#include "learner/job/job_curves.h"
#include "learner/job/run_folder.h"
#include "learner/world/world_fit.h"
#include "replay/rollout.h"

namespace regraft::learner {

/// Curves of the phases `collect` and `world-model`, in a folder for each half, as each has its own x:
///   RUN/events/collect   over the steps collected: collect/*, and what every job has (job_curves.h)
///   RUN/events/fit       over the updates: encoder/*, dynamics/*, reward/*, and the same
/// One thread.
class WorldCurves {
 public:
  /// `resumed`: an earlier generation may have written what comes again. The clock outlives it.
  WorldCurves(const RunFolder& folder, bool resumed, const Clock& clock);

  /// An episode was admitted.
  void add(const replay::Rollout& rollout);
  /// A point, where the last one is some seconds old or it is the last.
  void write_collected(std::uint64_t steps, std::uint64_t episodes, bool last, const wire::Hub& hub,
                       const wire::Ledger& ledger);
  /// A point, where the newest update's figures were due.
  void write_fit(const WorldFit& fit, std::uint64_t steps, const wire::Hub& hub, const wire::Ledger& ledger);

  /// For checkpoints, as JobCurves.
  nlohmann::json save() const { return job_.save(); }
  void restore(const nlohmann::json& saved) { job_.restore(saved); }

 private:
  EventWriter& events(std::unique_ptr<EventWriter>& held, const char* name, std::uint64_t first);

  std::filesystem::path root_;
  bool resumed_;
  const Clock& clock_;
  JobCurves job_;
  std::unique_ptr<EventWriter> collected_, fitted_;
  std::int64_t written_ns_ = 0;
  std::uint64_t added_ = 0;  // since the last point, as the sums
  double final_ratios_ = 0, best_ratios_ = 0, steps_ = 0;
};

}  // namespace regraft::learner
