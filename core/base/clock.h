#pragma once

#include <atomic>
#include <cstdint>

namespace regraft {

inline constexpr std::int64_t nanoseconds_per_second = 1'000'000'000;

/// Where time comes from, so that a test can replace it. Any thread may ask.
class Clock {
 public:
  virtual ~Clock() = default;
  /// Never goes back; its zero is arbitrary.
  virtual std::int64_t steady_ns() const = 0;
  /// Since 1970-01-01 UTC.
  virtual std::int64_t wall_ns() const = 0;
};

class SystemClock : public Clock {
 public:
  std::int64_t steady_ns() const override;
  std::int64_t wall_ns() const override;
};

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

}  // namespace regraft
