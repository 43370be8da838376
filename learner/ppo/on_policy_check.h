#pragma once

#include <cstdint>
#include <string>

#include "learner/ppo/ppo_metrics.h"

namespace regraft::learner {

/// What a run saw at lag 0, in steps acted with the learner's current weights.
struct OnPolicyRecord {
  double ratio_error = 0;   // largest |pi/mu - 1|
  std::uint64_t steps = 0;  // how many were compared
};

/// Holds |pi/mu - 1| at lag 0 against what rounding explains, over a whole run: more than that is a bug in
/// masks or versions. In deterministic mode every decision must be within 1e-5; else 999 of 1000 decisions of
/// an update, within 1e-4 on the CPU and 1e-3 on a GPU. One thread.
class OnPolicyCheck {
 public:
  /// `device`: cpu or cuda.
  OnPolicyCheck(bool deterministic, const std::string& device);

  /// One update's figures; says whether they are within the bound. The first that are not are warned of in
  /// the log.
  bool add(const PpoMetrics& metrics);

  const OnPolicyRecord& record() const { return record_; }
  /// What the run saw before it was resumed.
  void restore(const OnPolicyRecord& record) { record_ = record; }

 private:
  bool of_all_;
  double bound_;
  bool warned_ = false;
  OnPolicyRecord record_;
};

}
