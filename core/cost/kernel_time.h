#pragma once

#include <cstdint>

namespace regraft::cost {

inline constexpr double kPicosecondsPerUs = 1e6;

/// Latency as whole picoseconds, so that sums are exact in any order. Two figures: with the weights of the
/// model resident in cache between runs, and with weights streamed from memory.
struct KernelTime {
  std::int64_t resident_ps = 0;
  std::int64_t streamed_ps = 0;

  static KernelTime of_us(double us);
  KernelTime& operator+=(const KernelTime& other);
  KernelTime& operator-=(const KernelTime& other);
  KernelTime& operator*=(double factor);  // rounded
  bool operator==(const KernelTime&) const = default;
};

}
