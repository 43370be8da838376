#include "core/cost/kernel_time.h"

#include <cmath>

namespace regraft::cost {

KernelTime KernelTime::of_us(double us) {
  const auto ps = static_cast<std::int64_t>(std::llround(us * kPicosecondsPerUs));
  return {ps, ps};
}

KernelTime& KernelTime::operator+=(const KernelTime& other) {
  resident_ps += other.resident_ps;
  streamed_ps += other.streamed_ps;
  return *this;
}

KernelTime& KernelTime::operator-=(const KernelTime& other) {
  resident_ps -= other.resident_ps;
  streamed_ps -= other.streamed_ps;
  return *this;
}

KernelTime& KernelTime::operator*=(double factor) {
  resident_ps = std::llround(static_cast<double>(resident_ps) * factor);
  streamed_ps = std::llround(static_cast<double>(streamed_ps) * factor);
  return *this;
}

}
