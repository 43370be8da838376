#pragma once

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

}
