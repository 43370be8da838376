#include "core/base/clock.h"

#include <chrono>

namespace regraft {
namespace {

template <typename Source>
std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Source::now().time_since_epoch()).count();
}

}  // namespace

std::int64_t SystemClock::steady_ns() const {
  return now_ns<std::chrono::steady_clock>();
}
std::int64_t SystemClock::wall_ns() const {
  return now_ns<std::chrono::system_clock>();
}

}
