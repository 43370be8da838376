#pragma once

#include "core/base/clock.h"

namespace regraft {

/// When work ends that can be left out.
class Deadline {
 public:
  /// Seconds from now; never where these are infinite. The clock outlives it.
  explicit Deadline(double seconds, const Clock& clock = kSystemClock)
      : clock_(&clock), end_s_(now_s() + seconds) {}

  double left_s() const { return end_s_ - now_s(); }
  bool is_over() const { return left_s() <= 0; }

 private:
  static inline const SystemClock kSystemClock;

  double now_s() const { return static_cast<double>(clock_->steady_ns()) / nanoseconds_per_second; }

  const Clock* clock_;
  double end_s_;
};

}
