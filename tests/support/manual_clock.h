#pragma once

#include <atomic>

#include "core/base/clock.h"

namespace regraft {

/// Stands still until a test moves it.
class ManualClock : public Clock {
 public:
  explicit ManualClock(std::int64_t wall_ns = 0) : wall_offset_ns_(wall_ns) {}
  std::int64_t steady_ns() const override { return elapsed_ns_; }
  std::int64_t wall_ns() const override { return wall_offset_ns_ + elapsed_ns_; }
  void advance_ns(std::int64_t by_ns) { elapsed_ns_ += by_ns; }

 private:
  const std::int64_t wall_offset_ns_;
  std::atomic<std::int64_t> elapsed_ns_{0};
};

}
