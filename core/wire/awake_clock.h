#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "core/base/clock.h"

// Inside core/wire only.

namespace regraft::wire {

/// Time in which a thread was there to hear what others said. From one look to the next, kMostNs at most go
/// by: a process that was stopped, or whose clock jumped, takes that for nobody's silence. One thread looks;
/// any may ask.
class AwakeClock : public Clock {
 public:
  static constexpr std::int64_t kMostNs = 300'000'000;

  explicit AwakeClock(const Clock& clock)
      : clock_(clock), looked_ns_(clock.steady_ns()), awake_ns_(looked_ns_) {}

  void look() {
    const std::int64_t now_ns = clock_.steady_ns();
    awake_ns_ += std::min(now_ns - looked_ns_, kMostNs);
    looked_ns_ = now_ns;
  }
  /// As of the last look.
  std::int64_t steady_ns() const override { return awake_ns_; }
  std::int64_t wall_ns() const override { return clock_.wall_ns(); }

 private:
  const Clock& clock_;
  std::int64_t looked_ns_;
  std::atomic<std::int64_t> awake_ns_;
};

}
